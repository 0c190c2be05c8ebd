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
    ///   - serviceName: the name of the service, the same on all machines of an app: 1 to 15 lower-case letters of ASCII, digits and
    ///     hyphens, with a letter, and with hyphens between the others only, each alone (RFC 6335, section 5.1). Another name ends
    ///     the program. By default ``serviceName(of:)``.
    ///   - announces: see ``announces``.
    public init(
        through discovery: any Discovery = SystemDiscovery(), serviceName: String? = nil,
        announces: Bool = true
    ) {
        precondition(
            serviceName.map(Self.isServiceName) ?? true,
            "a service has a name of 1 to 15 lower-case letters, digits and single hyphens between them, not “\(serviceName ?? "")”"
        )
        self.discovery = discovery
        self.serviceName = serviceName
        self.announces = announces
    }

    /// Whether a text can be the name of a service.
    static func isServiceName(_ text: String) -> Bool {
        let isLetter = { (byte: UInt8) in (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return (1...15).contains(text.utf8.count) && text.utf8.contains(where: isLetter)
            && parts.allSatisfy { part in !part.isEmpty && part.allSatisfy { isLetter($0) || isDigit($0) } }
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
