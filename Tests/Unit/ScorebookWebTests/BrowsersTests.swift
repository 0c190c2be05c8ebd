import GRDB
import Testing

@testable import ScorebookWeb

/// Who may see the page, how long, and what guests do not see.
struct BrowsersTests {
    @Test(arguments: [(false, 12 * 3600), (true, 400 * 86_400)] as [(Bool, Int64)])
    func aBrowserIsKnownLongerOverTLS(isSecure: Bool, lifetime: Int64) async throws {
        let browsers = try await Browsers(try DatabaseQueue(), isSecure: isSecure)
        let secret = try await browsers.add(name: "Firefox", .all, now: 1000)
        let browser = try #require(try await browsers.find(secret, now: 1000 + lifetime))
        #expect(try await browsers.isKnown(browser.id, now: 1000 + lifetime))
        #expect(try await browsers.find(secret, now: 1001 + lifetime) == nil)
        #expect(try await !browsers.isKnown(browser.id, now: 1001 + lifetime))
        #expect(try await browsers.all(now: 1001 + lifetime).isEmpty)
    }

    @Test func whoComesInWithoutTLSKeepsThoseOfTLS() async throws {
        let database = try DatabaseQueue()
        let secret = try await Browsers(database, isSecure: true).add(name: "Firefox", .guest, now: 0)
        let browsers = try await Browsers(database, isSecure: false)
        let other = try await browsers.add(name: "Firefox", .all, now: 90_000)
        #expect(try await browsers.find(secret, now: 90_000)?.isGuest == true)
        let browser = try #require(try await browsers.find(other, now: 90_000))
        try await browsers.remove(browser.id)
        #expect(try await !browsers.isKnown(browser.id, now: 90_000))
    }

    @Test(arguments: [
        ("/machines", true), ("/machine/00", true), ("//Files/matches.csv", true), ("/%62rowsers", true),
        ("/machines/%CC%81pair", true), ("/machine/%FF", true), ("/files%E2%80%8D", false), ("/", false),
        ("/matches/files", false),
    ])
    func aPathThatGuestsDoNotSeeIsFoundOut(path: String, isClosed: Bool) {
        #expect(Entrance.isClosedToGuests(path) == isClosed)
    }
}
