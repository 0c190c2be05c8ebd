/// The places for connections whose other side has not proved yet that it is paired, or has been let in.
///
/// Every new connection gets a place. When there are too many, the oldest connection of the address with the most has
/// to go. So strangers keep others out only if they come from as many addresses as there are places.
public struct StrangerPlaces<Holder: Equatable & Sendable>: Sendable {
    private let limit: Int
    private let limitPerAddress: Int
    /// In order of arrival.
    private var taken: [(holder: Holder, address: NetworkAddress)] = []

    /// - Parameters:
    ///   - limit: the number of places.
    ///   - limitPerAddress: how many of them one address may have.
    public init(limit: Int = 64, limitPerAddress: Int = 16) {
        self.limit = limit
        self.limitPerAddress = limitPerAddress
    }

    /// Gives a connection a place.
    ///
    /// - Parameters:
    ///   - holder: the connection, or what stands for it.
    ///   - address: its IP address, as the system writes it. The addresses of one network of IPv6 count as one.
    /// - Returns: the connection that has to go.
    public mutating func enter(_ holder: Holder, from address: String) -> Holder? {
        let address = NetworkAddress(address)
        var counts: [NetworkAddress: Int] = [:]
        for place in taken { counts[place.address, default: 0] += 1 }
        var leaving: Int?
        if counts[address, default: 0] >= limitPerAddress {
            leaving = taken.firstIndex { $0.address == address }
        } else if taken.count >= limit {
            let most = counts.values.max()
            leaving = taken.firstIndex { counts[$0.address] == most }
        }
        defer { taken.append((holder, address)) }
        return leaving.map { taken.remove(at: $0).holder }
    }

    /// Takes a connection's place away.
    ///
    /// - Returns: whether it had one.
    @discardableResult
    public mutating func leave(_ holder: Holder) -> Bool {
        guard let index = taken.firstIndex(where: { $0.holder == holder }) else { return false }
        taken.remove(at: index)
        return true
    }

    /// - Returns: the connections that had a place.
    mutating func removeAll() -> [Holder] {
        defer { taken = [] }
        return taken.map(\.holder)
    }
}
