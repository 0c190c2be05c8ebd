/// Where a machine listens: a name or an IP address, with a port.
public struct PeerAddress: Sendable, Hashable, CustomStringConvertible {
    /// A name or an IP address, without brackets.
    public let host: String
    /// 1...65535.
    public let port: Int

    /// Reads an address as people write it: `kitchen`, `192.168.1.5:7431`, `[fe80::1]:7431`, `::1`.
    ///
    /// - Parameters:
    ///   - text: a name or an IP address, with or without a port.
    ///   - defaultPort: the port of an address without one.
    /// - Returns: nil when the text is no address.
    public init?(_ text: String, defaultPort: Int = SyncEngine.defaultPort) {
        guard !text.isEmpty else { return nil }
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let rest = text[text.index(after: end)...]
            self.init(String(text[text.index(after: text.startIndex)..<end]), rest, defaultPort)
            return
        }
        // More than one colon without brackets is an IPv6 address without a port.
        guard let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon else {
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
        guard !host.isEmpty, host.allSatisfy({ !$0.isWhitespace && $0.isASCII || $0.isLetter }) else {
            return nil
        }
        self.host = host
        if portWithColon.isEmpty {
            port = defaultPort
            return
        }
        guard portWithColon.first == ":", let port = Int(portWithColon.dropFirst()),
            (1...65_535).contains(port)
        else { return nil }
        self.port = port
    }

    /// The text that ``init(_:defaultPort:)`` reads, with the port.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
