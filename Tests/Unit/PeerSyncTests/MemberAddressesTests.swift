import PeerSyncModel
import PeerSyncProtocol
import Testing

@testable import PeerSync

/// Which addresses of members go over a connection, and which of those that come are of use.
struct MemberAddressesTests {
    private static let key = [UInt8](repeating: 3, count: 32)
    private static let known = [
        "192.168.1.5:7431", "attic.local:7431", "[2001:db8::5]:7431", "127.0.0.1:7431", "[::1]:7431",
        "[::ffff:127.0.0.1]:7431", "localhost:7431", "[fe80::1%eth0]:7431", "[fe80::1]:7431", "no address:x",
    ].map { (key: key, address: $0) }

    private func told(over address: String) -> [String] {
        MemberAddresses.told(Self.known, over: address).map(\.address)
    }

    @Test func addressesOfThisMachineAndOfALinkStayHere() {
        let far = ["192.168.1.5:7431", "attic.local:7431", "[2001:db8::5]:7431"]
        for address in [
            "192.168.1.9", "192.168.1.9:7431", "[2001:db8::9]:1", "study.local:7431", "this process",
        ] {
            #expect(told(over: address) == far)
        }
        for address in ["127.0.0.1", "127.0.0.1:50000", "::1", "[::1]:7431", "::ffff:127.0.0.1"] {
            #expect(told(over: address) == far + Self.known[3...6].map(\.address))
        }
    }

    private func heard(_ port: Int, at address: String, isCaller: Bool = true) -> [String] {
        let set = Message.HouseholdSet(
            set: Household(), port: port,
            addresses: ["10.0.0.1:7431", "", "a b:1", "10.0.0.2:99999"].map {
                Message.HouseholdSet.Address(key: Self.key, address: $0)
            })
        return MemberAddresses.heard(set, from: Self.key, at: address, isCaller: isCaller).map(\.address)
    }

    @Test func aCallerIsWhereItComesFromAtItsPort() {
        #expect(heard(7431, at: "192.168.1.9") == ["10.0.0.1:7431", "192.168.1.9:7431"])
        #expect(heard(7431, at: "2001:db8::9") == ["10.0.0.1:7431", "[2001:db8::9]:7431"])
        #expect(heard(0, at: "192.168.1.9") == ["10.0.0.1:7431"])
        #expect(heard(7431, at: "192.168.1.9:7431", isCaller: false) == ["10.0.0.1:7431"])
        #expect(heard(7431, at: "this process") == ["10.0.0.1:7431"])
    }
}
