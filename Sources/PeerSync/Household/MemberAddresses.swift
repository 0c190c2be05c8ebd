import NIOCore
import PeerSyncModel
import PeerSyncProtocol

/// Which addresses of members go over a connection, and which of those that come are of use.
enum MemberAddresses {
    typealias Address = Message.HouseholdSet.Address

    /// The addresses that mean something at both ends of a connection. A peer must not make this machine dial itself.
    ///
    /// - Parameter address: the other end of the connection.
    static func told(_ known: [(key: [UInt8], address: String)], over address: String) -> [Address] {
        let isLocal = PeerAddress(address).map { NetworkAddress.isLoopback($0.host) } ?? false
        return known.filter { entry in
            guard let place = PeerAddress(entry.address) else { return false }
            return !NetworkAddress.isOfLink(place.host)
                && (isLocal || !NetworkAddress.isLoopback(place.host))
        }.map { Address(key: $0.key, address: $0.address) }
    }

    /// The addresses that a peer has told, and where it listens itself.
    ///
    /// - Parameters:
    ///   - key: the peer's static key.
    ///   - address: the other end of the connection.
    ///   - isCaller: whether the peer made the connection, so that this machine has not dialled an address of it.
    static func heard(
        _ set: Message.HouseholdSet, from key: [UInt8], at address: String, isCaller: Bool
    ) -> [(key: [UInt8], address: String)] {
        var heard = told(set.addresses.map { ($0.key, $0.address) }, over: address).map {
            ($0.key, $0.address)
        }
        // A name stands for no place from which a connection comes.
        if isCaller, set.port > 0, let host = PeerAddress(address)?.host,
            (try? SocketAddress(ipAddress: host, port: 0)) != nil
        {
            heard.append((key, PeerAddress(host: host, port: set.port).description))
        }
        return heard
    }
}
