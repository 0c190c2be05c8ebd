import Foundation
import PeerSyncModel
import Scorebook
import Testing

/// Matches that somebody begins with a form, which may come twice.
struct NewMatchTests {
    private func new(_ entry: UUID?, _ players: [String]) -> NewMatch {
        var new = NewMatch(
            game: "Hearts", players: players.map { NewPlayer($0) }, createsPersons: true, createsGame: true)
        new.entry = entry
        return new
    }

    @Test func aFormThatComesTwiceNamesOneMatch() async throws {
        let entry = UUID()
        let name = try #require(new(entry, ["Ada"]).recordName)
        #expect(new(entry, ["Ada"]).recordName == name)
        #expect(new(entry, ["Ada", "Alan"]).recordName != name && new(UUID(), ["Ada"]).recordName != name)
        #expect(new(nil, ["Ada"]).recordName == nil)
        let scorebook = try Support.scorebook()
        #expect(try await scorebook.addMatch(new(entry, ["Ada"])).recordName == name)
        // Of two that come at once, the second one adds nothing.
        await #expect(throws: (any Error).self) { try await scorebook.addMatch(new(entry, ["Ada"])) }
        #expect(try await scorebook.matches(MatchFilter()).map(\.recordName) == [name])
    }
}
