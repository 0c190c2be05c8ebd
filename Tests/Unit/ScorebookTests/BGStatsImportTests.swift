import Foundation
import PeerSyncModel
import Scorebook
import TestSupport
import Testing

/// Files that are imported again, in other orders, on other machines.
struct BGStatsImportTests {
    private func scorebook(_ files: [Data], replica: UInt64 = 1) async throws -> ScorebookStore {
        let scorebook = try Support.scorebook(replica)
        for file in files { _ = try await scorebook.importData(file) }
        return scorebook
    }

    @Test func importingTwiceChangesNothing() async throws {
        let scorebook = try await scorebook([Support.later()])
        let before = try await scorebook.states()
        let report = try await scorebook.importData(Support.later())
        #expect(report.total == ImportReport.Counts(unchanged: before.count { $0.isLive }))
        #expect(try await scorebook.states() == before)
    }

    /// Every row of the seven tables.
    private func contents(_ scorebook: ScorebookStore) async throws -> [[String]] {
        var contents: [[String]] = []
        for kind in RecordKind.allCases {
            contents.append(
                try await scorebook.rows("SELECT * FROM \(kind.recordType) ORDER BY recordName"))
        }
        return contents
    }

    @Test func theLaterFileWinsInEveryOrder() async throws {
        let expected = try await contents(scorebook([Support.later()]))
        for files in [[Support.earlier, Support.later], [Support.later, Support.earlier]] {
            let both = try await scorebook(files.map { try $0() })
            #expect(try await contents(both) == expected)
            #expect(try await both.status().held == 0)
        }
    }

    /// What the later file has no more is found where somebody imports it again.
    @Test func theLaterFileWinsAcrossMachines() async throws {
        let expected = try await contents(scorebook([Support.later()]))
        let first = try await scorebook([Support.earlier()], replica: 2)
        let second = try await scorebook([Support.later()], replica: 3)
        try await first.take(from: second)
        try await second.take(from: first)
        #expect(try await first.digest() == second.digest())
        _ = try await second.importData(Support.later())
        try await first.take(from: second)
        #expect(try await first.digest() == second.digest())
        for scorebook in [first, second] {
            #expect(try await contents(scorebook) == expected)
        }
    }

    /// Otherwise an import would make a second game and a second person of each that somebody had typed before.
    @Test func whatSomebodyTypedBeforeStaysOne() async throws {
        let reference = try await scorebook([Support.later()])
        let game = try #require(try await reference.games().first { $0.matches > 0 && $0.game.name != nil })
        let person = try #require(try await reference.persons().first { $0.matches > 0 })
        let scorebook = try Support.scorebook(2)
        try await scorebook.addGame(NewGame(name: game.game.name!.uppercased()))
        try await scorebook.addPerson(person.person.name)
        let rehearsal = try await scorebook.importData(Support.later(), isRehearsal: true)
        #expect(rehearsal.joined == 2 && rehearsal.joinedNames.contains(person.person.name))
        let report = try await scorebook.importData(Support.later())
        #expect(report.joined == 2)
        #expect(try await scorebook.games().count == reference.games().count)
        #expect(try await scorebook.persons().count == reference.persons().count)
        #expect(
            try await scorebook.games().first { $0.game.name == game.game.name?.uppercased() }?.matches
                == game.matches)
        #expect(try await scorebook.importData(Support.later()).joined == 0)
        // The file itself tells its persons apart, whatever their names are.
        let both = try await self.scorebook([Support.earlier(), Support.later()], replica: 3)
        #expect(try await both.rows("SELECT count(mergedInto) FROM SBPerson") == ["0"])
    }

    @Test func theReportTellsWhatBecameOfEachType() async throws {
        let scorebook = try Support.scorebook()
        let first = try await scorebook.importData(Support.earlier())
        #expect(first.format == .bgStats)
        #expect(first.types["SBPerson"] == ImportReport.Counts(new: 7))
        #expect(first.types["SBMatch"] == ImportReport.Counts(new: 12))
        let second = try await scorebook.importData(Support.later())
        #expect(
            second.types == [
                "SBPerson": .init(unchanged: 6, deleted: 1),
                "SBGame": .init(changed: 1, unchanged: 3),
                // One play is new, four were changed, one is deleted.
                "SBMatch": .init(new: 1, changed: 4, unchanged: 7, deleted: 1),
                "SBPlayer": .init(new: 2, changed: 9, unchanged: 18, deleted: 3),
                "SBScore": .init(changed: 8, unchanged: 16, deleted: 4),
                "SBMatchLocation": .init(new: 1, changed: 7, unchanged: 2, deleted: 2),
            ])
    }

    @Test func deletedObjectsAreDeletedUnlessTheyWereChangedLater() async throws {
        let scorebook = try await scorebook([Support.earlier()])
        let matches = "SELECT COUNT(*) FROM SBMatch WHERE recordName GLOB '*-00000000000"
        #expect(try await scorebook.rows(matches + "9'") == ["1"])
        #expect(try await scorebook.rows(matches + "5'") == ["1"])
        _ = try await scorebook.importData(Support.later())
        #expect(try await scorebook.rows(matches + "9'") == ["1"])
        #expect(try await scorebook.rows(matches + "5'") == ["0"])
        #expect(try await scorebook.rows("SELECT COUNT(*) FROM SBPlayer WHERE match GLOB '*5'") == ["0"])
    }

    @Test func whatANewerPlayHasNoMoreIsDeleted() async throws {
        for files in [[Support.earlier, Support.later], [Support.later, Support.earlier]] {
            let scorebook = try await scorebook(files.map { try $0() })
            let players =
                "SELECT substr(person, -1) FROM SBPlayer WHERE match GLOB '*-000000000007' ORDER BY seatOrder"
            #expect(try await scorebook.rows(players) == ["1", "2"])
            let scores = """
                SELECT substr(person, -1), points, text FROM SBPlayer JOIN SBScore ON player = SBPlayer.recordName
                WHERE match GLOB '*-000000000008' ORDER BY seatOrder
                """
            #expect(try await scorebook.rows(scores) == ["2|-4|null", "3|0|null"])
            #expect(
                try await scorebook.rows("SELECT name FROM SBMatchLocation WHERE match GLOB '*-00000000000a'")
                    == [])
            let moved = "SELECT name FROM SBMatchLocation WHERE match GLOB '*-000000000006'"
            #expect(try await scorebook.rows(moved) == ["The old mill"])
        }
    }

    @Test func whatWasAddedByHandOutlivesANewerPlay() async throws {
        let scorebook = try await scorebook([Support.earlier()])
        // Added after the first file, before the play was changed in BG Stats: the clock is set back for it.
        let match = "SBMatch|~|0000000d-0000-4000-8000-000000000007"
        let picture = RecordState(
            name: try RecordName("SBMatchImage|~|1"),
            fields: [
                field("match", .reference(try RecordName(match))), field("caption", .text("The end")),
            ])
        let player = try #require(
            try await scorebook.rows(
                "SELECT recordName FROM SBPlayer WHERE match = '\(match)' AND seatOrder = 1"
            ).first)
        let round = RecordState(
            name: try RecordName("SBScore|~|1"),
            fields: [
                field("player", .reference(try RecordName(player))), field("round", .integer(2)),
                field("points", .integer(5)),
            ])
        try await scorebook.records.write { [records = scorebook.records] db in
            _ = try records.merge(db, [picture, round])
        }
        _ = try await scorebook.importData(Support.later())
        #expect(try await scorebook.rows("SELECT caption FROM SBMatchImage") == ["The end"])
        #expect(try await scorebook.rows("SELECT points FROM SBScore WHERE round = 2") == ["5"])
        #expect(try await scorebook.rows("SELECT COUNT(*) FROM SBPlayer WHERE match = '\(match)'") == ["2"])
    }

    @Test func aPlayerWhomANewerPlayHasNotStaysIfSomebodyHasChangedThem() async throws {
        let scorebook = try await scorebook([Support.earlier()])
        let later = try await self.scorebook([Support.later()])
        let names =
            "SELECT recordName FROM SBPlayer WHERE match NOT GLOB '*-000000000005' ORDER BY recordName"
        let kept = try await later.rows(names)
        let removed = try await scorebook.rows(names).filter { !kept.contains($0) }
        try #require(removed.count == 1)
        try await scorebook.execute("UPDATE SBPlayer SET role = 'mine' WHERE recordName = '\(removed[0])'")
        _ = try await scorebook.importData(Support.later())
        #expect(try await scorebook.rows(names) == (kept + [removed[0]]).sorted())
    }

    /// What a play has no more is not what somebody has deleted.
    @Test func anOlderFileRestoresPlaysButNotWhatNewerVersionsHaveNoMore() async throws {
        let scorebook = try await scorebook([Support.earlier(), Support.later()])
        let before = try await contents(scorebook)
        #expect(try await scorebook.importData(Support.earlier()).restored == 0)
        #expect(try await contents(scorebook) == before)
        let report = try await scorebook.importData(Support.earlier(), restores: true)
        let play = "'SBMatch|~|0000000d-0000-4000-8000-000000000005'"
        #expect(try await scorebook.rows("SELECT 1 FROM SBMatch WHERE recordName = \(play)") == ["1"])
        let players = try await scorebook.rows("SELECT recordName FROM SBPlayer WHERE match = \(play)")
        #expect(players.count > 0 && report.restored > players.count)
        let newer = "SELECT COUNT(*) FROM SBPlayer WHERE match GLOB '*-000000000007'"
        #expect(try await scorebook.rows(newer) == ["2"])
        let location = "SELECT name FROM SBMatchLocation WHERE match GLOB '*-00000000000a'"
        #expect(try await scorebook.rows(location) == [])
    }

    @Test func anEditMadeHereLaterThanThePlayStays() async throws {
        let scorebook = try await scorebook([Support.earlier()])
        try await scorebook.execute(
            "UPDATE SBMatch SET notes = 'mine' WHERE recordName GLOB '*-000000000006'")
        try await scorebook.execute("DELETE FROM SBMatch WHERE recordName GLOB '*-000000000003'")
        _ = try await scorebook.importData(Support.later())
        #expect(try await scorebook.rows("SELECT notes FROM SBMatch WHERE recordName GLOB '*6'") == ["mine"])
        #expect(
            try await scorebook.rows("SELECT name FROM SBMatchLocation WHERE match GLOB '*6'") == [
                "The old mill"
            ])
        #expect(try await scorebook.rows("SELECT COUNT(*) FROM SBMatch WHERE recordName GLOB '*3'") == ["0"])
    }

    @Test func theDemoDataIsWhatTheReadmeSays() async throws {
        let file = Repository.root.appendingPathComponent("scripts/data/household.bgstats.json")
        let scorebook = try Support.scorebook(now: 1_893_456_000_000)
        let report = try await scorebook.importFile(at: file.path)
        #expect(report.types["SBPerson"]?.new == 12)
        #expect(report.types["SBGame"]?.new == 40)
        #expect(report.types["SBMatch"]?.new == 400)
    }

    /// A field written by hand on 2021-05-20, between the two files.
    private func field(_ name: String, _ value: FieldValue) -> RecordField {
        let time = HybridTime(milliseconds: 1_621_468_800_000)
        return RecordField(
            name: name, value: value, stamp: Stamp(time: time, replica: ReplicaID(rawValue: 1)))
    }
}
