import PeerSync
import Testing

/// Addresses are read as people write them.
struct PeerAddressTests {
    @Test(arguments: [
        ("kitchen", "kitchen", 7431), ("kitchen:1", "kitchen", 1),
        ("192.168.1.5:65535", "192.168.1.5", 65_535),
        ("::1", "::1", 7431), ("fe80::1%eth0", "fe80::1%eth0", 7431), ("[::1]", "::1", 7431),
        ("[fe80::1]:99", "fe80::1", 99),
    ])
    func addresses(text: String, host: String, port: Int) throws {
        let address = try #require(PeerAddress(text))
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(PeerAddress(address.description) == address)
    }

    @Test(arguments: [
        "", ":", ":7431", "host:", "host:0", "host:65536", "host:x", "[::1", "[]", "[::1]x", "[::1]:",
        // Signs that no host has, and such as are one character with the letter before them or the accent behind them.
        "\u{0D4E} ", "\u{0D4E}\u{1B}", "\u{0D4E}:x", "host:\u{301}7431", "[::1]\u{301}", "a\u{1B}b",
    ])
    func whatIsNone(text: String) {
        #expect(PeerAddress(text) == nil)
    }

    @Test(arguments: [0, 65_536]) func aPortThatIsNoneIsNoDefault(port: Int) {
        #expect(PeerAddress("kitchen", defaultPort: port) == nil)
        #expect(PeerAddress("kitchen:1", defaultPort: port)?.port == 1)
    }
}
