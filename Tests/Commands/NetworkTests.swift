import Foundation
import TestSupport
import Testing

#if os(Linux)
    /// Machines on hosts of their own, with a network between them that fails: everything still converges.
    @Suite(.takingTurns) struct NetworkTests {
        private func expectEqual(_ machines: [Machine]) async throws {
            try await eventually("equal digests of \(machines.map(\.name))", within: .seconds(90)) {
                try await Set(machines.asyncMap { try await $0.digest() }).count == 1
            }
            for machine in machines.dropFirst() { #expect(try machine.contents() == machines[0].contents()) }
        }

        @Test func aCableThatWasPulledOutForAWhile() async throws {
            try await withNetwork("kitchen", "study") { _, machines in
                let (kitchen, study) = (machines[0], machines[1])
                try await study.pair(with: kitchen)
                let listener = try await kitchen.listen()
                let caller = try await study.connect(to: listener)
                try await caller.event("inSync")
                try study.host?.setLink(up: false)
                try await kitchen.addGame("Written here meanwhile")
                try await study.addGame("Written there meanwhile")
                #expect(try kitchen.rows("SELECT name FROM SBGame") == ["Written here meanwhile"])
                try study.host?.setLink(up: true)
                try await expectEqual(machines)
                #expect(try kitchen.rows("SELECT COUNT(*) FROM SBGame") == ["2"])
                #expect(listener.process.isRunning && caller.isRunning)
            }
        }

        @Test func aSlowLineThatFailsInTheMiddleOfAFirstSync() async throws {
            try await withNetwork("kitchen", "study") { _, machines in
                let (kitchen, study) = (machines[0], machines[1])
                try await study.pair(with: kitchen)
                try await kitchen.importHousehold()
                // The household takes about four seconds.
                try kitchen.host?.throttle(bitsPerSecond: 500_000)
                let listener = try await kitchen.listen()
                let caller = try await study.connect(to: listener)
                try study.host?.setLink(up: false)
                try study.host?.setLink(up: true)
                try await study.addGame("Written while the line was slow")
                try await expectEqual(machines)
                #expect(try kitchen.rows("SELECT COUNT(*) FROM SBGame WHERE name LIKE 'Written%'") == ["1"])
                #expect(try study.isSound() && kitchen.isSound())
                #expect(caller.isRunning)
            }
        }

        /// No `listen` runs at the kitchen, so the program that shows the code stays until all is there.
        @Test func aPairingOverASlowLineBringsThePictures() async throws {
            try await withNetwork("kitchen", "study") { _, machines in
                let (kitchen, study) = (machines[0], machines[1])
                try await kitchen.addGame("Catan")
                let match = try await kitchen.addMatch("Catan", "Ada=1")
                let file = try kitchen.scene.file(
                    "IMG_1.jpg", SamplePicture.jpeg(String(repeating: "x", count: 1_500_000)))
                try await kitchen.peer("image", "add", match, file)
                // The picture takes twelve seconds, and who has all records has five for a goodbye.
                try kitchen.host?.throttle(bitsPerSecond: 1_000_000)
                let showing = try kitchen.start(["pair", "--json", "--name", "kitchen"])
                let shown = try await showing.event("pairingCode")
                let (code, port) = (try #require(shown.code), try #require(shown.port))
                try await study.peer("pair", code, "--with", "10.77.0.1:\(port)", "--name", "study")
                let outcome = try await showing.outcome()
                #expect(outcome.exitCode == 0, "\(outcome)")
                #expect(try await study.pictures().map(\.here) == [true])
            }
        }

        @Test func aHostThatIsGoneAndComesBack() async throws {
            try await withNetwork("kitchen", "study") { _, machines in
                let (kitchen, study) = (machines[0], machines[1])
                try await study.pair(with: kitchen)
                let listener = try await kitchen.listen()
                let caller = try await study.connect(to: listener)
                try await caller.event("inSync")
                // Nobody hears of the end of the first one.
                try kitchen.host?.setLink(up: false)
                listener.process.signal(SIGKILL)
                _ = try await listener.process.end()
                try await kitchen.addGame("Written when the host was gone")
                try kitchen.host?.setLink(up: true)
                _ = try await kitchen.listen(port: listener.port)
                try await expectEqual(machines)
                #expect(try study.rows("SELECT COUNT(*) FROM SBGame") == ["1"])
            }
        }

        @Test func threeHostsOfWhichTheMiddleOneIsCutOff() async throws {
            try await withNetwork("kitchen", "study", "attic") { _, machines in
                let (kitchen, study, attic) = (machines[0], machines[1], machines[2])
                try await kitchen.pair(with: study)
                try await attic.pair(with: study)
                let middle = try await study.listen()
                for end in [kitchen, attic] { try await end.connect(to: middle).event("inSync") }
                try await kitchen.importHousehold()
                try study.host?.setLink(up: false)
                try await kitchen.addGame("From the kitchen")
                try await attic.addGame("From the attic")
                try await study.addGame("From the study")
                try study.host?.setLink(up: true)
                try attic.host?.throttle(bitsPerSecond: 2_000_000)
                try await expectEqual(machines)
                #expect(try attic.rows("SELECT COUNT(*) FROM SBGame WHERE name LIKE 'From the %'") == ["3"])
            }
        }
    }

    extension Sequence {
        fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async throws -> [Value]
        {
            var values: [Value] = []
            for element in self { values.append(try await transform(element)) }
            return values
        }
    }
#endif
