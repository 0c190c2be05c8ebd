import Testing

@testable import PeerSync

/// Connections are counted by where they come from.
struct NetworkAddressTests {
    @Test(arguments: [
        ("192.168.1.5", "192.168.1.5"),
        ("::ffff:192.168.1.5", "192.168.1.5"),
        ("::FFFF:c0a8:105", "192.168.1.5"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("2001:db8:0:1:ffff:ffff:ffff:ffff", "2001:db8:0:1::/64"),
        ("2001:db8:0:2::1", "2001:db8:0:2::/64"),
        ("fe80::1%eth0", "fe80:0:0:0::/64"),
        ("::1", "0:0:0:0::/64"),
        ("a machine", "a machine"),
    ])
    func oneNetworkIsOnePlace(address: String, network: String) {
        #expect(NetworkAddress(address).description == network)
    }

    @Test(arguments: [
        ("192.168.1.5", "192.168.1.5"), ("::ffff:192.168.1.5", "192.168.1.5"),
        ("::FFFF:c0a8:105", "192.168.1.5"), ("2001:db8:0:1::1", "2001:db8:0:1::1"),
        ("fe80::1%eth0", "fe80::1%eth0"), ("a machine", "a machine"),
    ])
    func anAddressIsWrittenAsOneOfItsKind(address: String, plain: String) {
        #expect(NetworkAddress.plain(address) == plain)
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.8.9.1", true), ("::1", true), ("::ffff:127.0.0.1", true),
        ("localhost", true), ("LocalHost", true), ("192.168.1.5", false), ("2001:db8::1", false),
        ("fe80::1%eth0", false), ("::", false), ("0.0.0.0", false), ("127.example", false), ("*", false),
    ])
    func onlyThisMachineReachesItself(host: String, isLoopback: Bool) {
        #expect(NetworkAddress.isLoopback(host) == isLoopback)
    }

    @Test(arguments: [
        ("fe80::1%eth0", true), ("fe80::1", true), ("FEBF::1", true), ("kitchen%eth0", true),
        ("fec0::1", false), ("2001:db8::1", false), ("192.168.1.5", false), ("fe80", false),
    ])
    func anAddressOfALinkMeansNothingElsewhere(host: String, isOfLink: Bool) {
        #expect(NetworkAddress.isOfLink(host) == isOfLink)
    }

    @Test(arguments: [
        ("fe80::1", "awdl0", true), ("fe80::1", "llw0", true), ("fe80::1", "utun3", true),
        ("fe80::1", "anpi0", true), ("fe80::1", "en0", false), ("100.64.0.1", "utun4", false),
        ("2001:db8::1", "utun4", false), ("192.168.1.5", "en0", false),
    ])
    func whatAMacMakesForItselfComesAndGoes(address: String, interface: String, comesAndGoes: Bool) {
        #expect(NetworkAddress.comesAndGoes(address, on: interface) == comesAndGoes)
    }
}
