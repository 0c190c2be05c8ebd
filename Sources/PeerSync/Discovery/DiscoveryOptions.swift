import PeerSyncModel

/// How an engine finds the machines of its app on a network, and lets them find it.
public struct DiscoveryOptions: Sendable {
    /// The way to find machines; nil if none are looked for.
    let discovery: (any Discovery)?
    /// The type of DNS-SD, without the underscore and the protocol; nil for that of ``serviceName(of:)``.
    let serviceName: String?
    /// Whether others can find this machine. If not, it still finds them.
    public var announces: Bool

    /// Makes options.
    ///
    /// - Parameters:
    ///   - discovery: by default the system's.
    ///   - serviceName: the name of the service, the same on all machines of an app: 1 to 15 lower-case letters, digits and
    ///     hyphens (RFC 6763, section 7). By default ``serviceName(of:)``.
    ///   - announces: see ``announces``.
    public init(
        through discovery: any Discovery = SystemDiscovery(), serviceName: String? = nil,
        announces: Bool = true
    ) {
        precondition(serviceName.map { (1...15).contains($0.utf8.count) } ?? true)
        self.discovery = discovery
        self.serviceName = serviceName
        self.announces = announces
    }

    private init() {
        discovery = nil
        serviceName = nil
        announces = false
    }

    /// No discovery: machines meet at addresses that somebody types, or that are known from before.
    public static let off = DiscoveryOptions()

    /// The name of the service of an app that gives none: `ps-` and ten characters that follow from the app's id, the same
    /// on all machines.
    public static func serviceName(of app: AppID) -> String {
        let hash = BLAKE2b.hash(Array(app.description.utf8), length: 16)
        return "ps-" + hash.prefix(5).hexadecimal
    }

    func serviceType(of app: AppID) -> String { "_\(serviceName ?? Self.serviceName(of: app))._tcp" }
}
