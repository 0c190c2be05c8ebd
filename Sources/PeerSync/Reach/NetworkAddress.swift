import NIOCore

/// The place that connections come from: an IPv4 address, or the 64 bits of an IPv6 address that name its network,
/// because a machine with one address there can have as many as it likes.
struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    /// `192.168.1.5`, or `2001:db8:0:1::/64`.
    let description: String

    /// - Parameter address: an IP address as the system writes it; any other text stays as it is.
    init(_ address: String) {
        switch Self.bytes(address) {
        case nil: description = Self.withoutScope(address)
        case let bytes? where bytes.count == 4: description = Self.dotted(bytes)
        case let bytes?:
            let groups = stride(from: 0, to: 8, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
            description = groups.map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
        }
    }

    /// An IP address in the form of its kind: `192.168.1.5` also for `::ffff:192.168.1.5`, as a socket for both kinds has it. Any other
    /// text stays as it is.
    static func plain(_ address: String) -> String {
        guard let bytes = bytes(address), bytes.count == 4 else { return address }
        return dotted(bytes)
    }

    private static func dotted(_ bytes: [UInt8]) -> String { bytes.map(String.init).joined(separator: ".") }

    /// Whether only this machine can connect to a host: an IP address, or a name.
    static func isLoopback(_ host: String) -> Bool {
        guard let bytes = bytes(host) else { return host.lowercased() == "localhost" }
        return bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }

    /// Whether a host, which is an IP address or a name, means something on one link only.
    static func isOfLink(_ host: String) -> Bool {
        guard let bytes = bytes(host), bytes.count == 16 else { return host.contains("%") }
        return host.contains("%") || bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    }

    /// Whether an address is one that macOS makes and drops by itself, for AirDrop, for its own tunnels and the like: an address of one link on
    /// an interface for these. A VPN has other addresses there.
    static func comesAndGoes(_ address: String, on interface: String) -> Bool {
        isOfLink(address) && ["awdl", "llw", "utun", "anpi"].contains { interface.hasPrefix($0) }
    }

    private static func withoutScope(_ address: String) -> String { String(address.prefix { $0 != "%" }) }

    /// The 4 or 16 bytes of an IP address: 4 also for an IPv4 address that is written as an IPv6 address. Nil for any other
    /// text.
    private static func bytes(_ address: String) -> [UInt8]? {
        switch try? SocketAddress(ipAddress: withoutScope(address), port: 0) {
        case .v4(let parsed)?: return withUnsafeBytes(of: parsed.address.sin_addr) { Array($0) }
        case .v6(let parsed)?:
            let bytes = withUnsafeBytes(of: parsed.address.sin6_addr) { Array($0) }
            let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
            return isMapped ? Array(bytes.suffix(4)) : bytes
        case .unixDomainSocket?, nil: return nil
        }
    }
}
