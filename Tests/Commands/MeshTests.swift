import Foundation
import TestSupport
import Testing

/// Machines that listen also connect to each other, and any number of them end up with the same.
@Suite(.takingTurns) struct MeshTests {
    private func expectEverywhere(_ name: String, _ machines: [Machine]) async throws {
        for machine in machines {
            try await eventually("\(name) on \(machine.name)") {
                try machine.rows("SELECT 1 FROM SBGame WHERE name = ?", [name]) == ["1"]
            }
        }
    }

    /// The connections that a process has at this moment, by what it has told.
    private func connections(_ process: PeerProcess) throws -> Int {
        try process.events("connected").count - process.events("disconnected").count
    }

    @Test func threeMachinesThatAllKnowEachOther() async throws {
        try await withScene { scene in
            let (a, b, c) = (scene.machine("a"), scene.machine("b"), scene.machine("c"))
            for (one, other) in [(b, a), (c, a), (c, b)] { try await one.pair(with: other) }
            let first = try await a.listen(extra: ["--passive"])
            let second = try await b.listen(extra: ["--passive", "--connect", first.address])
            let third = try await c.listen(extra: [
                "--passive", "--connect", first.address, "--connect", second.address,
            ])
            for machine in [a, b, c] {
                try await machine.addGame("Added on \(machine.name)")
                try await expectEverywhere("Added on \(machine.name)", [a, b, c])
            }
            try await a.peer("game", "delete", "Added on b", "--yes")
            try await eventually("the deletion everywhere") {
                try [b, c].allSatisfy { try $0.rows("SELECT 1 FROM SBGame").count == 2 }
            }
            try await eventually("equal digests") { try await haveEqualDigests(a, b, c) }
            for listener in [first, second, third] { #expect(try connections(listener.process) == 2) }
        }
    }

    /// The records that each link of a process has sent and received, by the other machine's name.
    private func moved(_ process: PeerProcess) throws -> [String: (sent: Int, received: Int)] {
        var moved: [String: (sent: Int, received: Int)] = [:]
        for event in try process.events("inSync") {
            if let peer = event.peer, let sync = event.sync { moved[peer] = (sync.sent, sync.received) }
        }
        return moved
    }

    @Test func aChangeCrossesEachLinkAtMostOnceInEachDirection() async throws {
        try await withScene { scene in
            let machines = ["a", "b", "c"].map { scene.machine($0) }
            let (a, b, c) = (machines[0], machines[1], machines[2])
            for (one, other) in [(b, a), (c, a), (c, b)] { try await one.pair(with: other) }
            let first = try await a.listen(extra: ["--passive"])
            let second = try await b.listen(extra: ["--passive", "--connect", first.address])
            let third = try await c.listen(extra: [
                "--passive", "--connect", first.address, "--connect", second.address,
            ])
            let processes = [first.process, second.process, third.process]
            for _ in 0..<3 {
                try await a.addGame("Catan")
                try await settle(machines, processes)
            }
            // Each change is one record. Who gets it from both others at once may pass it on to either.
            for process in processes {
                for link in try moved(process).values { #expect(link.sent <= 3 && link.received <= 3) }
            }
            for link in try moved(first.process).values { #expect(link.sent > 0) }
        }
    }

    @Test func aChangeIsNotSentBackWhereItCameFrom() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let caller = try await study.connect(to: listener)
            for _ in 0..<3 { try await kitchen.addGame("Catan") }
            let digest = try await kitchen.digest()
            for process in [listener.process, caller] {
                try await eventually("\(process) in sync") {
                    try process.events("inSync").contains { $0.sync?.digest == digest }
                }
            }
            #expect(try moved(listener.process)["study"]?.sent == 3)
            #expect(try moved(listener.process)["study"]?.received == 0)
        }
    }

    /// Waits until every link has found its two sides equal, with the digest that all have.
    private func settle(_ machines: [Machine], _ processes: [PeerProcess]) async throws {
        try await eventually("equal digests") {
            try await haveEqualDigests(machines[0], machines[1], machines[2])
        }
        let digest = try await machines[0].digest()
        for process in processes {
            try await eventually("both links of \(process) in sync") {
                let events = try process.events("inSync")
                return Set(events.filter { $0.sync?.digest == digest }.map(\.peer)).count == 2
            }
        }
    }

    @Test func twoThatDialEachOtherKeepOneConnection() async throws {
        try await withPair { kitchen, study in
            let first = try await kitchen.listen(extra: ["--passive"])
            let second = try await study.listen(extra: ["--passive"])
            try await first.stop()
            try await second.stop()
            // The ports were free a moment ago.
            let one = try await kitchen.listen(
                port: first.port, extra: ["--passive", "--connect", second.address])
            let other = try await study.listen(
                port: second.port, extra: ["--passive", "--connect", first.address])
            for processes in [[one.process, other.process], [other.process, one.process]] {
                try await eventually("one connection of \(processes[0])") {
                    try connections(processes[0]) == 1
                }
            }
            try await kitchen.addGame("From the kitchen")
            try await study.addGame("From the study")
            try await expectEverywhere("From the kitchen", [study])
            try await expectEverywhere("From the study", [kitchen])
            for process in [one.process, other.process] { #expect(try connections(process) == 1) }
            try await one.stop()
            try await other.stop()
        }
    }

    @Test func aMachineFindsTheOthersWhereTheyWere() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            try await study.sync(listener)
            let again = try await study.listen()
            try await again.process.event("connected")
            try await kitchen.addGame("Catan")
            try await expectEverywhere("Catan", [study])

            // And again when they come back.
            listener.process.signal(SIGKILL)
            _ = try await listener.process.end()
            try await kitchen.addGame("Hearts")
            _ = try await kitchen.listen(port: listener.port)
            try await expectEverywhere("Hearts", [study])
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func aSignalEndsAListenerThatHasConnected(signal: Int32) async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let other = try await study.listen(extra: ["--passive", "--connect", listener.address])
            try await other.process.event("inSync")
            other.process.signal(signal)
            #expect(try await other.process.end() == 0, "\(other.process)")
            #expect(other.process.errors.isEmpty)
            #expect(try await listener.process.event("disconnected").reason == nil)
            #expect(try study.rows("SELECT * FROM grdb_sync_peerSession").isEmpty)
        }
    }

    @Test func whoIsNotThereIsNoError() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            try await study.sync(listener)
            try await listener.stop()
            let alone = try await study.listen()
            // It is asked for in vain, and nothing is said; to be connected to is possible all the time.
            try await kitchen.sync(alone)
            #expect(try alone.process.events("retrying").isEmpty)
            try await alone.stop()
        }
    }

    @Test func aWrongAddressToConnectToIsAUsageError() async throws {
        try await withMachine { kitchen in
            for address in ["", "host:0", "host:70000", "[::1", ":7431", "a b"] {
                let outcome = try await kitchen.run("listen", "--connect", address)
                #expect(outcome.exitCode == 64, "\(address)")
            }
        }
    }
}
