import ArgumentParser
import CSQLiteConfiguration
import DiskSimulator
import Dispatch
import Foundation
import MailboxSimulator
import SyncSimulator
import Synchronization

/// Runs simulations, as many as are asked for.
@main
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lets simulated machines write, sync, fail and restart, and checks what must always hold.",
        discussion: "A seed that fails is printed as a script, shortened, which --script runs again.")

    @Option(help: "How many seeds to run.")
    var seeds: UInt64 = 1000

    @Option(help: "The first seed.")
    var start: UInt64 = 1

    @Flag(help: "Run the scripts of households: machines are introduced and removed, and no records written.")
    var households = false

    @Flag(help: "Let machines share a mailbox, whose storage is late, loses objects and goes back.")
    var mailboxes = false

    @Flag(help: "Let a machine's disk fail at every call, in everything that a store does. Takes minutes.")
    var disks = false

    @Flag(help: "Let the machines ask a user before they show what would take much away.")
    var fuses = false

    @Option(help: "How many to run at once.")
    var jobs = ProcessInfo.processInfo.activeProcessorCount

    @Option(
        help: "Try everything that can happen in so many steps, instead of seeds: 2 take minutes, 3 hours."
    )
    var complete: Int?

    @Option(
        help:
            "Try every order of what happens in an exchange, with so many writes, cuts, crashes and restores: 1 takes seconds, 2 minutes, 3 hours."
    )
    var exchange: Int?

    @Option(help: "With --exchange: how the machines stand when they meet, instead of each way in turn.")
    var scene: ExchangeSearch.Scene?

    @Option(help: "Run the script in this file instead.")
    var script: String?

    func run() async throws {
        precondition(sqlite_count_no_memory(), "something has used SQLite before")
        if let exchange { return try search(events: exchange) }
        if disks { return try await failDisks() }
        if mailboxes { return try await shareMailboxes() }
        if let script {
            guard let parsed = Script(try String(contentsOfFile: script, encoding: .utf8)) else {
                throw ValidationError("\(script) is not a script")
            }
            print(try Simulation.run(parsed))
            return
        }
        try runScripts()
    }

    private func runScripts() throws {
        let total = Mutex(SimulationCounts())
        let failed = Mutex<(title: String, script: Script, reason: String)?>(nil)
        let next = Mutex(
            Scripts(
                complete.map { CompleteTrial(length: $0) }, start..<start + seeds, households: households,
                fuses: fuses)
        )
        DispatchQueue.concurrentPerform(iterations: max(1, jobs)) { _ in
            while failed.withLock({ $0 == nil }), let (title, script) = next.withLock({ $0.next() }) {
                do {
                    let counts = try Simulation.run(script)
                    total.withLock { $0 += counts }
                } catch {
                    failed.withLock { $0 = $0 ?? (title, script, "\(error)") }
                }
            }
        }
        if let (title, script, reason) = failed.withLock({ $0 }) { try report(title, script, reason) }
        let counts = total.withLock { $0 }
        print(
            """
            \(counts.runs) runs, \(counts.writes) writes, \(counts.sessions) sessions of which \(counts.cuts) cut, \
            \(counts.doubles) times two connections at once, \(counts.recordsMoved) records and \(counts.filesMoved) files moved, \(counts.deletions) deletions, \(counts.revivals) revivals, \
            \(counts.holds) holds, \(counts.restores) backups restored, \(counts.upgrades) upgrades, \
            \(counts.purged) deletions forgotten, \(counts.partings) pairings ended, \
            \(counts.introductions) machines introduced, \(counts.removals) removed, \
            \(counts.startOvers) machines started over, \(counts.undone) deletions undone, \
            \(counts.hidden) records hidden, \(counts.decisions) decisions about what waits, \
            \(counts.reconciliations) reconciliations, \(counts.resyncs) of them because of unequal digests
            """)
    }

    private func shareMailboxes() async throws {
        try await forEach(start..<start + seeds) { try await MailboxSimulation.run(seed: $0) }
        print("\(seeds) runs of machines that share a mailbox")
    }

    private func failDisks() async throws {
        for work in DiskTrial.Work.allCases {
            let calls = try await DiskTrial.calls(of: work)
            for fault in DiskFault.allCases {
                try await forEach(1...calls) { call in
                    try await DiskTrial.run(work, fault, at: call, seed: 0)
                    if fault == .powerCut {
                        try await DiskTrial.run(work, fault, at: call, seed: UInt32(call))
                    }
                }
            }
            print("\(work.rawValue): each of \(calls) calls of the disk failed in each way")
        }
    }

    /// Does something for each value, as many at once as are asked for. The first error ends it.
    private func forEach<Values: Sequence & Sendable>(
        _ values: Values, _ body: @escaping @Sendable (Values.Element) async throws -> Void
    ) async throws where Values.Element: Sendable {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, value) in values.enumerated() {
                if index >= max(1, jobs) { try await group.next() }
                group.addTask { try await body(value) }
            }
            try await group.waitForAll()
        }
    }

    /// The scenes one after the other; each keeps all states that it has met in memory.
    private func search(events: Int) throws {
        for scene in scene.map({ [$0] }) ?? ExchangeSearch.Scene.allCases {
            let begin = ContinuousClock.now
            do {
                // Two sessions at once have so many orders that an event between them is for another day.
                let outcome = try ExchangeSearch.run(scene, events: scene == .line ? events - 1 : events)
                print(
                    "\(scene.rawValue): \(outcome.states) states, \(outcome.steps) steps, depth \(outcome.depth), "
                        + "\(outcome.ends) ends, \((ContinuousClock.now - begin).components.seconds) s")
            } catch let fault as ExchangeSearch.Fault {
                print(fault)
                throw ExitCode.failure
            }
        }
    }

    private func report(_ title: String, _ script: Script, _ reason: String) throws {
        print("\(title)\(reason)\nshortened:")
        let short = script.shortened { (try? Simulation.run($0)) == nil }
        print(short)
        do {
            _ = try Simulation.run(short)
        } catch {
            print("which fails with: \(error)")
        }
        throw ExitCode.failure
    }
}

extension ExchangeSearch.Scene: ExpressibleByArgument {}

/// The scripts that are still to be run: those of a complete trial, or those of seeds.
private struct Scripts: Sendable {
    private var trial: CompleteTrial?
    private var seeds: Range<UInt64>.Iterator
    private let households: Bool
    private let fuses: Bool

    init(_ trial: CompleteTrial?, _ seeds: Range<UInt64>, households: Bool, fuses: Bool) {
        self.fuses = fuses
        self.trial = trial
        self.households = households
        self.seeds = seeds.makeIterator()
    }

    mutating func next() -> (title: String, Script)? {
        guard trial == nil else { return trial?.next().map { ("", $0) } }
        return seeds.next().map {
            (
                "seed \($0) failed: ",
                households ? Script(householdSeed: $0) : Script(seed: $0, hasFuses: fuses)
            )
        }
    }
}
