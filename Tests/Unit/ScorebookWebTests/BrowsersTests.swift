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
        let browser = try #require(try await browsers.find(other, now: 90_000))
        try await browsers.remove(browser.id)
        #expect(try await !browsers.isKnown(browser.id, now: 90_000))
        let again = try await Browsers(database, isSecure: true)
        #expect(try await again.find(secret, now: 90_000)?.isGuest == true)
    }

    /// An older version let browsers in for 400 days whether with TLS or without.
    @Test func withoutTLSNobodyIsKnownForMoreThanTwelveHours() async throws {
        let database = try DatabaseQueue()
        let secret = try await Browsers(database, isSecure: true).add(name: "Firefox", .all, now: 0)
        let browsers = try await Browsers(database, isSecure: false)
        let browser = try #require(try await browsers.find(secret, now: Browsers.lifetimeWithoutTLS))
        let late = Browsers.lifetimeWithoutTLS + 1
        #expect(try await browsers.find(secret, now: late) == nil)
        #expect(try await !browsers.isKnown(browser.id, now: late))
    }

    @Test func whoMayComeInOnlyOverTLSIsListedAndShutOutWithoutIt() async throws {
        let database = try DatabaseQueue()
        let secret = try await Browsers(database, isSecure: true).add(name: "Firefox", .all, now: 0)
        let browsers = try await Browsers(database, isSecure: false)
        #expect(try await browsers.all(now: 0).map(\.isLetIn) == [true])
        let late = Browsers.lifetimeWithoutTLS + 1
        let listed = try #require(try await browsers.all(now: late).first)
        #expect(!listed.isLetIn)
        #expect(try await browsers.remove(listed.id))
        let again = try await Browsers(database, isSecure: true)
        #expect(try await again.find(secret, now: late) == nil)
    }

    @Test func shuttingABrowserOutTellsWhetherItWasThere() async throws {
        let browsers = try await Browsers(try DatabaseQueue(), isSecure: false)
        let secret = try await browsers.add(name: "Firefox", .all, now: 0)
        let browser = try #require(try await browsers.find(secret, now: 0))
        #expect(try await browsers.remove(browser.id))
        #expect(try await !browsers.remove(browser.id))
        #expect(Browsers.mayBeID(browser.id))
        // A page of an earlier version has numbers.
        #expect(!Browsers.mayBeID("1"))
        #expect(!Browsers.mayBeID(String(repeating: "x", count: 64)))
    }

    @Test func aBrowserThatWasShutOutSharesNothingWithTheNextOne() async throws {
        let browsers = try await Browsers(try DatabaseQueue(), isSecure: false)
        let first = try #require(
            try await browsers.find(try await browsers.add(name: "Firefox", .guest, now: 0), now: 0))
        try await browsers.remove(first.id)
        let secret = try await browsers.add(name: "Firefox", .guest, now: 0)
        #expect(try await !browsers.isKnown(first.id, now: 0))
        // Somebody presses “Shut out” of the first one on an old page.
        try await browsers.remove(first.id)
        #expect(try await browsers.find(secret, now: 0) != nil)
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
