import Foundation
import PeerSyncModel
import TestSupport
import Testing

/// Whoever is paired with one machine of a household is accepted by all, and whoever is removed by one is refused by all.
@Suite(.takingTurns) struct HouseholdCommandTests {
    private struct Member: Decodable {
        let name: String
        let introducedBy: String?
        let relation: String
        let mayOnlyRead: Bool
    }

    private func members(of machine: Machine) async throws -> [Member] {
        try await machine.json([Member].self, "peers", "household")
    }

    private func peers(of machine: Machine) async throws -> [String] {
        try await machine.json([PeerLine].self, "peers").map {
            "\($0.name) by \($0.introducedBy ?? "a pairing")"
        }
    }

    private struct PeerLine: Decodable {
        let name: String
        let introducedBy: String?
    }

    /// The kitchen pairs with the study, then the attic with the kitchen only. All three sync; then the kitchen removes the
    /// attic while the study is off.
    @Test func threeMachinesPairedTwiceLoseOne() async throws {
        try await withScene { scene in
            let (kitchen, study, attic) = (
                scene.machine("kitchen"), scene.machine("study"), scene.machine("attic")
            )
            try await study.pair(with: kitchen)
            try await attic.pair(with: kitchen)
            #expect(try await peers(of: attic) == ["kitchen by a pairing", "study by kitchen"])
            #expect(try await peers(of: study) == ["kitchen by a pairing"])
            try await study.sync(with: kitchen)
            #expect(try await peers(of: study) == ["attic by kitchen", "kitchen by a pairing"])

            // The study and the attic have never been paired.
            try await study.addGame("Catan")
            #expect(try await attic.sync(with: study).received == 1)
            #expect(try await attic.status().peers.map(\.name).sorted() == ["kitchen", "study"])

            // A backup from a time when the attic was a member.
            let backup = scene.machine("backup")
            try FileManager.default.copyItem(at: study.store, to: backup.store)

            try await kitchen.peer("peers", "forget", "attic", "--everywhere", "--yes")
            #expect(try await peers(of: kitchen) == ["study by a pairing"])
            // The study was off: it has to hear of it first.
            #expect(try await peers(of: study) == ["attic by kitchen", "kitchen by a pairing"])
            try await study.sync(with: kitchen)
            #expect(try await peers(of: study) == ["kitchen by a pairing"])

            for machine in [kitchen, study] {
                let listener = try await machine.listen()
                let outcome = try await attic.run("connect", listener.address, "--once")
                #expect(outcome.isSentence(77), "\(outcome)")
                #expect(outcome.errors.contains("this machine was removed from the household by kitchen"))
                #expect(try await attic.doctor(listener.address).problems == ["removedThere"])
                // What waits there waits for a reason.
                let status = try await attic.peer("status")
                #expect(status.contains("was removed from the household by kitchen"), "\(status)")
                try await listener.stop()
            }
            #expect(try attic.rows("SELECT name FROM SBGame") == ["Catan"])

            // The backup knows the attic again, until it hears from the kitchen; and the kitchen learns nothing from it.
            try FileManager.default.removeItem(at: study.store)
            try FileManager.default.copyItem(at: backup.store, to: study.store)
            #expect(try await peers(of: study) == ["attic by kitchen", "kitchen by a pairing"])
            try await study.sync(with: kitchen)
            #expect(try await peers(of: study) == ["kitchen by a pairing"])
            #expect(try await peers(of: kitchen) == ["study by a pairing"])
            #expect(try await members(of: study).map(\.name).sorted() == ["kitchen", "study"])

            // Only a pairing brings it back, and then to all.
            try await attic.pair(with: study)
            try await study.sync(with: kitchen)
            #expect(try await peers(of: kitchen) == ["attic by study", "study by a pairing"])
            #expect(try await attic.sync(with: kitchen).received == 0)
        }
    }

    @Test func theListOfTheHouseholdHasTimesOfTheReader() async throws {
        try await withPair { kitchen, _ in
            let lines = try await kitchen.peer("peers", "household").split(separator: "\n").map(String.init)
            #expect(
                lines.count == 3 && lines[0].wholeMatch(of: /NAME +KEY +INTRODUCED BY +SINCE +NOTE/) != nil)
            for line in lines.dropFirst() {
                #expect(
                    line.contains(#/ ([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}|-) +(this machine|-)$/#),
                    "\(line)")
            }
        }
    }

    /// What a user forgets on one machine stays forgotten there, whatever the household says.
    @Test func forgettingHereIsNotUndone() async throws {
        try await withScene { scene in
            let (kitchen, study, attic) = (
                scene.machine("kitchen"), scene.machine("study"), scene.machine("attic")
            )
            try await study.pair(with: kitchen)
            try await attic.pair(with: kitchen)
            try await study.sync(with: kitchen)
            try await study.peer("peers", "forget", "attic")
            try await study.sync(with: kitchen)
            // Somebody pairs it anew, elsewhere.
            try await attic.peer("peers", "forget", "kitchen")
            try await attic.pair(with: kitchen)
            try await study.sync(with: kitchen)
            #expect(try await peers(of: study) == ["kitchen by a pairing"])
            #expect(
                try await members(of: study).map { "\($0.name) \($0.relation)" }.sorted() == [
                    "attic forgotten", "kitchen peer", "study own",
                ])
            #expect(try await peers(of: kitchen).contains("attic by a pairing"))
            let listener = try await study.listen()
            let outcome = try await attic.run("connect", listener.address, "--once")
            #expect(outcome.isSentence(77) && outcome.errors.contains("not paired"), "\(outcome)")
            try await listener.stop()
            try await attic.pair(with: study)
            #expect(try await peers(of: study) == ["attic by a pairing", "kitchen by a pairing"])
        }
    }

    /// Machines that were paired before there were households are introduced only when their users say so.
    @Test func anOldSetBecomesAHouseholdByAsking() async throws {
        try await withScene { scene in
            let (kitchen, study, attic) = (
                scene.machine("kitchen"), scene.machine("study"), scene.machine("attic")
            )
            try await study.pair(with: kitchen)
            for machine in [kitchen, study] { try machine.write("DELETE FROM grdb_sync_introduction") }
            try await attic.pair(with: kitchen)
            try await study.sync(with: kitchen)
            #expect(try await peers(of: attic) == ["kitchen by a pairing"])
            #expect(try await members(of: study).isEmpty)
            let asked = try await study.run("peers", "introduce")
            #expect(asked.exitCode == 64 && asked.errors.contains("kitchen"), "\(asked)")
            #expect(try await members(of: study).isEmpty)

            let listener = try await kitchen.listen()
            let talk = try await study.connect(to: listener)
            #expect(try await talk.event("notIntroduced").peer == "kitchen")
            talk.signal(SIGINT)
            _ = try await talk.end()
            try await listener.stop()

            try await study.peer("peers", "introduce", "--yes")
            try await study.sync(with: kitchen)
            // The kitchen's user was not asked yet, so the kitchen tells nothing, and hears nothing.
            #expect(try await peers(of: study) == ["kitchen by a pairing"])
            try await kitchen.peer("peers", "introduce", "study", "--yes")
            try await study.sync(with: kitchen)
            #expect(try await peers(of: study) == ["attic by kitchen", "kitchen by a pairing"])
            try await attic.sync(with: kitchen)
            #expect(try await peers(of: attic) == ["kitchen by a pairing", "study by kitchen"])
        }
    }

    /// Fills the household of a machine with machines that nobody knows.
    private func fill(_ machine: Machine) throws {
        func key(_ number: Int) -> [UInt8] { BLAKE2b.hash(Array("\(number)".utf8), length: 32) }
        let rows = (1...PeerSyncModel.Household.maximumCount).map { number in
            let introduction = Introduction(
                of: key(number), name: "machine \(number)", rights: .all, by: key(0), time: 5)!
            let bytes = [introduction.id.bytes, introduction.nonce, introduction.key].map {
                "X'\($0.hexadecimal)'"
            }
            return
                "(\(bytes.joined(separator: ", ")), '\(introduction.name)', 2, X'\(key(0).hexadecimal)', 5, NULL, NULL)"
        }
        try machine.write(
            """
            DELETE FROM grdb_sync_introduction;
            INSERT INTO grdb_sync_introduction VALUES \(rows.joined(separator: ", "))
            """)
    }

    @Test func aFullHouseholdIsASentence() async throws {
        try await withPair { kitchen, study in
            try fill(kitchen)
            for names in [[], ["study"]] {
                let outcome = try await kitchen.start(["peers", "introduce", "--yes"] + names).outcome()
                #expect(outcome.isSentence(77), "\(outcome)")
                #expect(outcome.errors.contains("1000 introductions"), "\(outcome)")
                #expect(outcome.errors.contains("hint: removing machines makes no room"), "\(outcome)")
            }
            // Whoever types the code of such a machine hears it, too.
            let listener = try await kitchen.listen(pair: true)
            let attic = kitchen.scene.machine("attic")
            let outcome = try await attic.run(
                "connect", listener.address, "--code", try #require(listener.code), "--once")
            #expect(outcome.isSentence(75) && outcome.errors.contains("1000 introductions"), "\(outcome)")
            #expect(try await kitchen.status().peers.map(\.name) == ["study"])
            _ = study
        }
    }

    private func pair(_ guest: Machine, with kitchen: Machine, _ options: String...) async throws {
        let listener = try await kitchen.listen()
        let desk = try kitchen.start(["pair", "--json"] + options)
        let code = try #require(try await desk.event("pairingCode").code)
        try await guest.peer("pair", code, "--with", listener.address, "--name", guest.name)
        #expect(try await desk.outcome().exitCode == 0)
        _ = try await guest.run("connect", listener.address, "--once")
        try await listener.stop()
    }

    /// The code says what the new machine gets, and with that whether the others hear of it.
    @Test func whoPairsForOneZoneIsIntroducedToNobody() async throws {
        try await withScene { scene in
            let (kitchen, study, guest) = (
                scene.machine("kitchen"), scene.machine("study"), scene.machine("guest")
            )
            try await study.pair(with: kitchen)
            try await kitchen.peer("zone", "create", "club")
            try await pair(guest, with: kitchen, "--zone", "club")
            try await study.sync(with: kitchen)
            #expect(try await peers(of: study) == ["kitchen by a pairing"])
            #expect(try await peers(of: guest) == ["kitchen by a pairing"])
            #expect(try await members(of: kitchen).map(\.name).sorted() == ["kitchen", "study"])
            let listener = try await kitchen.listen()
            let synced = try await guest.peer("connect", listener.address, "--once")
            #expect(!synced.contains("paired with this machine only"), "\(synced)")
            #expect(try await guest.peer("peers", "introduce", "--yes").contains("nobody to introduce"))
            #expect(try await members(of: guest).isEmpty)
        }
    }

    @Test func whoMayOnlyReadIsIntroducedAsAReader() async throws {
        try await withScene { scene in
            let (kitchen, study, reader) = (
                scene.machine("kitchen"), scene.machine("study"), scene.machine("reader")
            )
            try await study.pair(with: kitchen)
            try await pair(reader, with: kitchen, "--read-only")
            try await study.sync(with: kitchen)
            #expect(try await peers(of: study) == ["kitchen by a pairing", "reader by kitchen"])
            #expect(try await members(of: study).filter(\.mayOnlyRead).map(\.name) == ["reader"])
            // A reader brings nothing to the study either.
            try await reader.addGame("Catan")
            let listener = try await study.listen()
            _ = try await reader.run("connect", listener.address, "--once")
            try await listener.stop()
            #expect(try study.rows("SELECT COUNT(*) FROM SBGame") == ["0"])
        }
    }

    /// Whoever has nothing but a zone any more is told nothing.
    @Test func whoOnlyHasAZoneHearsOfNobody() async throws {
        try await withScene { scene in
            let (kitchen, study, guest) = (
                scene.machine("kitchen"), scene.machine("study"), scene.machine("guest")
            )
            try await guest.pair(with: kitchen)
            try await kitchen.peer("zone", "create", "club")
            try await kitchen.peer("peers", "grant", "guest", "club", "write")
            let zone = try #require(try await kitchen.status().zones.first?.name)
            try await kitchen.peer("peers", "revoke", "guest", zone)
            try await study.pair(with: kitchen)
            try await guest.sync(with: kitchen)
            #expect(try await peers(of: guest) == ["kitchen by a pairing"])
        }
    }

    /// A session that runs ends when its machine is removed, and the other one says why.
    @Test func aRunningSessionEndsWhenItsMachineIsRemoved() async throws {
        try await withScene { scene in
            let (kitchen, attic) = (scene.machine("kitchen"), scene.machine("attic"))
            try await attic.pair(with: kitchen)
            let listener = try await kitchen.listen()
            let session = try await attic.connect(to: listener)
            let said = try await kitchen.peer("peers", "forget", "attic", "--everywhere", "--yes")
            #expect(said.contains("removed attic from the household"))
            let reason = try await session.event("disconnected").reason
            #expect(reason?.contains("this machine was removed from the household by kitchen") == true)
            _ = try await session.end()
            try await listener.stop()
            let again = try await kitchen.run("peers", "forget", "attic", "--everywhere", "--yes")
            #expect(again.isSentence(65), "\(again)")
        }
    }

    /// No address is typed for the third machine: each tells the others where it listens.
    @Test func membersDialEachOther() async throws {
        try await withScene { scene in
            let (kitchen, study, attic) = (
                scene.machine("kitchen"), scene.machine("study"), scene.machine("attic")
            )
            let kitchenListens = try await kitchen.listen(pair: true)
            let studyListens = try await study.listen()
            try await study.peer(
                "connect", kitchenListens.address, "--code", try #require(kitchenListens.code), "--once",
                "--name", "study")
            // From now on the study's listener dials the kitchen, and tells it the port.
            try await eventually("the study's listener to dial") {
                try await study.status().peers.contains { $0.name == "kitchen" && $0.connected }
            }
            try await kitchenListens.stop()
            let again = try await kitchen.listen(pair: true, port: kitchenListens.port)
            let atticListens = try await attic.listen()
            try await attic.peer(
                "connect", again.address, "--code", try #require(again.code), "--once", "--name", "attic")
            try await eventually("the attic and the study to be connected") {
                try await attic.status().peers.contains { $0.name == "study" && $0.connected }
            }
            try await study.addGame("Catan")
            try await again.stop()
            try await eventually("the game in the attic") {
                try attic.rows("SELECT name FROM SBGame") == ["Catan"]
            }
            try await studyListens.stop()
            try await atticListens.stop()
        }
    }
}
