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
}
