import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol
import Testing

@testable import PeerSync

/// The text of a QR code says all that a machine needs, and nothing else is taken for one.
struct PairingLinkTests {
    private let key = KeyPair.generate().publicKey

    @Test(arguments: [[], ["192.168.1.20:7431"], ["192.168.1.20:7431", "[2001:db8::1]:9", "küche:7431"]])
    func aLinkIsRead(places: [String]) throws {
        let addresses = places.compactMap { PeerAddress($0) }
        let link = PairingLink(app: "org.example.books", key: key, code: .random(), at: addresses)
        let read = try #require(PairingLink(link.description))
        #expect(read == link)
        #expect(read.addresses == addresses)
        #expect(ExpectedMachine.hash(read.keyHash).admits(key))
        #expect(!ExpectedMachine.hash(read.keyHash).admits(KeyPair.generate().publicKey))
    }

    @Test func theTextIsThatOfTheProtocol() throws {
        let key = try PublicKey([UInt8](0..<32))
        let link = PairingLink(
            app: "scorebook", key: key, code: try PairingCode("066-228"),
            at: [PeerAddress(host: "192.168.1.20", port: 7431)])
        #expect(
            link.description
                == "peer-sync:pair?v=1&app=scorebook&code=066228&key=f39a2cad58411cd49f577e5086b8031f&at=192.168.1.20:7431"
        )
    }

    @Test func whatIsNoLinkIsRefused() {
        let link = PairingLink(
            app: "scorebook", key: key, code: .random(), at: [PeerAddress(host: "a", port: 1)]
        ).description
        #expect(PairingLink(link) != nil)
        for later in ["&later=1", "&later", "&later=%zz", "&", "&=", "&app=other", "&code=1"] {
            #expect(PairingLink(link + later) == PairingLink(link), "\(later)")
        }
        for bad in [
            "", "066-228", "https://example.org", link.replacing("v=1", with: "v=2"),
            link.replacing("app=scorebook", with: "app="), link.replacing("&app=scorebook", with: ""),
            link.replacing(/code=[0-9]{6}/, with: "code=12345"), link.replacing(/&code=[0-9]{6}/, with: ""),
            link.replacing(/key=../, with: "key="), link.replacing(/&key=[0-9a-f]*/, with: ""),
            link.replacing("at=a:1", with: "at=a:0"), link.replacing("at=a:1", with: "at=%zz"),
            link + "&at", link + "&code",
            link + String(repeating: "&at=a:1", count: PairingLink.addressLimit),
            link + "&x=" + String(repeating: "y", count: PairingLink.greatestSize),
        ] { #expect(PairingLink(bad) == nil, "\(bad)") }
    }

    @Test func aLinkHasNotAnyNumberOfAddresses() {
        let addresses = (1...20).map { PeerAddress(host: "host", port: $0) }
        let link = PairingLink(app: "scorebook", key: key, code: .random(), at: addresses)
        #expect(link.addresses == Array(addresses.prefix(PairingLink.addressLimit)))
        #expect(PairingLink(link.description) == link)
    }

    /// One address that is too long, or cannot be read, would make the whole link unreadable.
    @Test func aLinkHasOnlyAddressesThatCanBeRead() {
        let hosts = (0..<PairingLink.addressLimit).map { "\($0)" + String(repeating: "x", count: 150) }
        let long = hosts.map { PeerAddress(host: $0, port: 7431) }
        let short = PeerAddress(host: "kitchen", port: 7431)
        let none = [0, 65_536].map { PeerAddress(host: "kitchen", port: $0) }
        let link = PairingLink(app: "scorebook", key: key, code: .random(), at: none + long + [short])
        #expect(link.addresses == Array(long.prefix(5)) + [short])
        #expect(PairingLink(link.description) == link)
    }
}
