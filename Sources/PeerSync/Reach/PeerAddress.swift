/// Where a machine listens: a name or an IP address, with a port.
public struct PeerAddress: Sendable, Hashable, CustomStringConvertible {
    /// A name or an IP address, without brackets.
    public let host: String
    /// 1...65535. A connection to an address with another port fails with `unreachable`.
    public let port: Int

    static let ports = 1...65_535

    /// Reads an address as people write it: `kitchen`, `192.168.1.5:7431`, `[fe80::1]:7431`, `::1`.
    ///
    /// - Parameters:
    ///   - text: a name or an IP address, with or without a port.
    ///   - defaultPort: the port of an address without one.
    /// - Returns: nil when the text is no address, or `defaultPort` would be used and is none.
    public init?(_ text: String, defaultPort: Int = SyncEngine.defaultPort) {
        guard !text.isEmpty else { return nil }
        // Goes by bytes: a colon may be one character with the letter before it.
        let bytes = text.utf8
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            let rest = text[bytes.index(after: end)...]
            self.init(String(text[bytes.index(after: bytes.startIndex)..<end]), rest, defaultPort)
            return
        }
        // More than one colon without brackets is an IPv6 address without a port.
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes.lastIndex(of: UInt8(ascii: ":")) == colon
        else {
            self.init(text, "", defaultPort)
            return
        }
        self.init(String(text[..<colon]), text[colon...], defaultPort)
    }

    /// Makes an address of its parts.
    ///
    /// - Parameters:
    ///   - host: a name or an IP address, without brackets.
    ///   - port: 1...65535.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    private init?(_ host: String, _ portWithColon: Substring, _ defaultPort: Int) {
        guard !host.isEmpty, host.unicodeScalars.allSatisfy(Self.isOfHost) else { return nil }
        guard portWithColon.isEmpty || portWithColon.utf8.first == UInt8(ascii: ":") else { return nil }
        let number: Int? =
            portWithColon.isEmpty ? defaultPort : Int(Substring(portWithColon.utf8.dropFirst()))
        guard let number, Self.ports.contains(number) else { return nil }
        self.init(host: host, port: number)
    }

    /// Whether a host may have a scalar: a sign of ASCII that is seen, or a letter, digit or mark of any language.
    private static func isOfHost(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII ? (0x21...0x7E).contains(scalar.value) : scalar.properties.isXIDContinue
    }

    /// The text that ``init(_:defaultPort:)`` reads, with the port.
    public var description: String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
