/// What was observed of this machine on its networks.
public struct NetworkFacts: Sendable, Equatable {
    /// What listens here.
    public enum Listener: Sendable, Equatable {
        /// Nothing does.
        case nobody
        /// A program for this store does, at these addresses, as `host:port`.
        case thisStore(addresses: [String])
        /// Something else has the port.
        case other

        /// The addresses of this store's program that other machines can reach.
        var open: [String] {
            guard case .thisStore(let addresses) = self else { return [] }
            return addresses.filter { !(PeerAddress($0).map { NetworkAddress.isLoopback($0.host) } ?? false) }
        }

        /// The port that other machines connect to; nil if they can reach none.
        var port: Int? { open.lazy.compactMap { PeerAddress($0)?.port }.first }
    }

    /// What a firewall of this machine does with connections to the port.
    public enum Firewall: Sendable, Equatable {
        /// No rule that was seen stops them.
        case open
        /// The program has a rule that stops them.
        case blocks(program: String)
        /// The program stops what no rule allows, and nobody saw a rule that allows them.
        case mayBlock(program: String)
    }

    /// The service that announces machines, and finds them.
    public enum Discovery: Sendable, Equatable {
        /// It runs.
        case running
        /// It does not.
        case missing(name: String)
    }

    /// The port that other machines connect to.
    public var port: Int
    /// Whether a network, other than the machine with itself, has given this machine an address.
    public var hasAddress: Bool
    /// What listens here.
    public var listener: Listener
    /// What a firewall of this machine does.
    public var firewall: Firewall
    /// The service that announces machines.
    public var discovery: Discovery

    /// Makes facts; see the properties.
    public init(
        port: Int, hasAddress: Bool = true, listener: Listener, firewall: Firewall = .open,
        discovery: Discovery = .running
    ) {
        self.port = port
        self.hasAddress = hasAddress
        self.listener = listener
        self.firewall = firewall
        self.discovery = discovery
    }
}
