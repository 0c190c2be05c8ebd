/// The search for services of a type: which question follows which answer. It asks nothing itself.
///
/// DNS-SD names a service, then its host and port, then the addresses of the host. Everybody on the network can announce
/// services, so everything here has a limit.
struct ServiceSearch {
    /// The most services that are looked at, each counted once for each interface.
    static let limit = 128
    /// The most services whose addresses are asked for at a time, before the first answer has come, and in all.
    static let unansweredLimit = 16
    static let askedLimit = 48
    /// The most addresses of a service.
    static let addressLimit = 8
    /// How long to wait for the host of a service, and for its addresses.
    static let resolvingTime: Duration = .seconds(5)
    static let addressTime: Duration = .milliseconds(1500)
    /// How often a service whose addresses did not come is asked for again.
    static let attempts = 3

    enum Action: Equatable {
        case begin(Int, DNSServiceRequest, within: Duration?)
        case end(Int)
        /// What was found has changed.
        case changed
        /// The system's service is gone.
        case fail(Int32)
    }

    private struct Host: Equatable {
        let port: Int
        let text: [UInt8]
    }

    private enum Phase: Equatable {
        case waiting
        case resolving(Int)
        /// The requests for addresses that are open.
        case asking(Host, Set<Int>)
        case known(Host)

        var requests: Set<Int> {
            switch self {
            case .resolving(let id): [id]
            case .asking(_, let ids): ids
            case .waiting, .known: []
            }
        }
    }

    private struct Entry {
        /// The order of arrival.
        let number: Int
        var phase = Phase.waiting
        var addresses: [String] = []
        var attemptsLeft = ServiceSearch.attempts
    }

    /// The number of the request that names services.
    private static let browsing = 0

    private let type: String
    private var entries: [DNSServiceName: Entry] = [:]
    private var owners: [Int: DNSServiceName] = [:]
    private var lastID = Self.browsing

    init(for type: String) {
        self.type = type
    }

    /// The services that have an address, in order of arrival. One that several interfaces lead to is there once.
    var found: [FoundService] {
        var services: [String: (number: Int, host: Host, addresses: [String])] = [:]
        for (name, entry) in entries.sorted(by: { $0.value.number < $1.value.number }) {
            let host: Host
            switch entry.phase {
            case .asking(let value, _), .known(let value): host = value
            case .waiting, .resolving: continue
            }
            guard !entry.addresses.isEmpty else { continue }
            services[name.name, default: (entry.number, host, [])].addresses += entry.addresses
        }
        return services.sorted { $0.value.number < $1.value.number }.map { name, service in
            FoundService(
                name: name, text: service.host.text,
                addresses: Self.ordered(service.addresses).map {
                    PeerAddress(host: $0, port: service.host.port)
                })
        }
    }

    /// Addresses that reach far first, and those of one link last.
    private static func ordered(_ addresses: [String]) -> [String] {
        var seen: Set<String> = []
        let unique = addresses.filter { seen.insert($0).inserted }
        let near = unique.filter { $0.contains("%") }
        let far = unique.filter { !$0.contains("%") }
        return Array(
            (far.filter { !$0.contains(":") } + far.filter { $0.contains(":") } + near).prefix(addressLimit))
    }

    func begin() -> [Action] { [.begin(Self.browsing, .browse(type: type), within: nil)] }

    /// Takes an answer to a request.
    mutating func received(_ id: Int, _ reply: DNSServiceReply) -> [Action] {
        switch reply {
        case .added(let name) where entries[name] == nil && entries.count < Self.limit:
            entries[name] = Entry(number: lastID)
            lastID += 1
            return proceed()
        case .removed(let name):
            guard let entry = entries.removeValue(forKey: name) else { return [] }
            for id in entry.phase.requests { owners[id] = nil }
            return entry.phase.requests.sorted().map(Action.end) + (entry.addresses.isEmpty ? [] : [.changed])
                + proceed()
        case .failed(let code) where id == Self.browsing:
            return [.fail(code)]
        case .resolved(let host, let port, let text):
            return resolved(id, host, port, text)
        case .address(let address):
            return answered(id, address)
        case .timedOut, .failed:
            return over(id)
        case .added, .registered:
            return []
        }
    }

    private mutating func resolved(_ id: Int, _ host: String, _ port: Int, _ text: [UInt8]) -> [Action] {
        guard let name = owners.removeValue(forKey: id), case .resolving(id)? = entries[name]?.phase else {
            return []
        }
        guard (1...65_535).contains(port) else {
            entries[name]?.phase = .known(Host(port: 0, text: []))
            return [.end(id)]
        }
        let requests = [false, true].map { isVersion6 in
            Action.begin(
                newID(for: name),
                .address(host: host, interface: name.interface, isVersion6: isVersion6),
                within: Self.addressTime)
        }
        entries[name]?.phase = .asking(Host(port: port, text: text), [lastID - 1, lastID])
        return [.end(id)] + requests
    }

    private mutating func answered(_ id: Int, _ address: String) -> [Action] {
        guard let name = owners[id], var entry = entries[name], entry.addresses.count < Self.addressLimit,
            !entry.addresses.contains(address)
        else { return [] }
        entry.addresses.append(address)
        entries[name] = entry
        return [.changed] + proceed()
    }

    /// Ends a request that gets no more answers.
    private mutating func over(_ id: Int) -> [Action] {
        guard let name = owners.removeValue(forKey: id), var entry = entries[name] else { return [] }
        switch entry.phase {
        case .resolving: entry.phase = .waiting
        case .asking(let host, let ids):
            let rest = ids.subtracting([id])
            if !rest.isEmpty {
                entry.phase = .asking(host, rest)
            } else {
                entry.phase = entry.addresses.isEmpty ? .waiting : .known(host)
            }
        case .waiting, .known: break
        }
        if case .waiting = entry.phase {
            entry.attemptsLeft -= 1
            if entry.attemptsLeft == 0 { entry.phase = .known(Host(port: 0, text: [])) }
        }
        entries[name] = entry
        return [.end(id)] + proceed()
    }

    /// Asks for the services that wait, as far as there is room.
    private mutating func proceed() -> [Action] {
        let asked = entries.values.filter { !$0.phase.requests.isEmpty }
        let unanswered = asked.count { $0.addresses.isEmpty }
        let room = min(Self.unansweredLimit - unanswered, Self.askedLimit - asked.count)
        guard room > 0 else { return [] }
        let next = entries.filter { $0.value.phase == .waiting }
            // Those that nobody has asked for yet come first: some that never answer must not hold up the others.
            .sorted {
                ($1.value.attemptsLeft, $0.value.number) < ($0.value.attemptsLeft, $1.value.number)
            }
        return next.prefix(room).map { name, _ in
            let id = newID(for: name)
            entries[name]?.phase = .resolving(id)
            return .begin(id, .resolve(name, type: type), within: Self.resolvingTime)
        }
    }

    private mutating func newID(for name: DNSServiceName) -> Int {
        lastID += 1
        owners[lastID] = name
        return lastID
    }
}
