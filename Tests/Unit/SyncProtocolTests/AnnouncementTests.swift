import PeerSyncChannel
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncProtocol

/// An announcement says to whom knows a machine's key that it is there, and to everybody else nothing.
struct AnnouncementTests {
    private let key = KeyPair.generate().publicKey

    private func strings(_ strings: [String]) -> [UInt8] {
        strings.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    }

    private var salt: String { String(repeating: "0a", count: 16) }
    private var identifier: String { String(repeating: "b0", count: 16) }

    @Test(arguments: [true, false]) func anAnnouncementIsRead(showsCode: Bool) throws {
        let announcement = Announcement(of: key, showsCode: showsCode)
        let read = try #require(Announcement(text: announcement.text))
        #expect(read == announcement)
        #expect(read.showsCode == showsCode)
        #expect(read.names(key))
        #expect(!read.names(KeyPair.generate().publicKey))
    }

    /// Otherwise a stranger could follow a machine from network to network.
    @Test func twoAnnouncementsHaveNothingInCommon() {
        let texts = (0..<2).map { _ in Announcement(of: key, showsCode: false).text }
        #expect(texts[0] != texts[1])
        let common = texts[0].hexadecimal.commonPrefix(with: texts[1].hexadecimal)
        #expect(common.count < (1 + 3 + 1 + 5 + 8) * 2)
        // The identifier comes last: 32 digits.
        #expect(texts[0].suffix(32) != texts[1].suffix(32))
        #expect(!texts[0].hexadecimal.contains(key.bytes.hexadecimal.prefix(16)))
    }

    @Test func unknownKeysAreIgnored() throws {
        let text = strings(["new", "later=1", "V=1", "SALT=\(salt)", "id=\(identifier)", "v=2"])
        let read = try #require(Announcement(text: text))
        #expect(!read.showsCode)
    }

    @Test func whatIsNoAnnouncementIsRefused() {
        let good = ["v=1", "salt=\(salt)", "id=\(identifier)"]
        #expect(Announcement(text: strings(good)) != nil)
        for index in good.indices {
            #expect(
                Announcement(text: strings(good.enumerated().filter { $0.offset != index }.map(\.element)))
                    == nil)
        }
        for (index, bad) in [
            (0, "v=2"), (0, "v"), (0, "v="), (1, "salt=\(salt)00"), (1, "salt=0a"),
            (1, "salt=\(salt.dropLast())g"),
            (2, "id=\(identifier.dropLast(2))"), (2, "id="),
        ] {
            var strings = good
            strings[index] = bad
            #expect(Announcement(text: self.strings(strings)) == nil, "\(bad)")
        }
        let text = strings(good)
        for length in 0..<text.count { #expect(Announcement(text: Array(text.prefix(length))) == nil) }
        #expect(Announcement(text: text + strings([String(repeating: "x", count: 200)]) + [255]) == nil)
        let long = text + strings(Array(repeating: String(repeating: "x", count: 250), count: 2))
        #expect(Announcement(text: long) == nil)
    }
}
