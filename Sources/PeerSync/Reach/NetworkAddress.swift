import NIOCore

/// The place that connections come from: an IPv4 address, or the 64 bits of an IPv6 address that name its network,
/// because a machine with one address there can have as many as it likes.
struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    /// `192.168.1.5`, or `2001:db8:0:1::/64`.
    let description: String

    /// - Parameter address: an IP address as the system writes it; any other text stays as it is.
    init(_ address: String) {
        let withoutScope = String(address.prefix { $0 != "%" })
        guard case .v6(let parsed)? = try? SocketAddress(ipAddress: withoutScope, port: 0) else {
            description = withoutScope
            return
        }
        let bytes = withUnsafeBytes(of: parsed.address.sin6_addr) { Array($0) }
        let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10..<12].allSatisfy { $0 == 0xFF }
        if isMapped {
            description = bytes.suffix(4).map(String.init).joined(separator: ".")
        } else {
            let groups = stride(from: 0, to: 8, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
            description = groups.map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
        }
    }
}
