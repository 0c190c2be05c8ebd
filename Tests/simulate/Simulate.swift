import ArgumentParser
import Dispatch
import Foundation
import SyncSimulator
import Synchronization

/// Runs simulations, as many as are asked for.
@main
struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lets simulated machines write, sync, fail and restart, and checks what must always hold.",
        discussion: "A seed that fails is printed as a script, shortened, which --script runs again.")

    @Option(help: "How many seeds to run.")
    var seeds: UInt64 = 1000

    @Option(help: "The first seed.")
    var start: UInt64 = 1

    @Option(help: "How many to run at once.")
    var jobs = ProcessInfo.processInfo.activeProcessorCount

    @Option(help: "Run the script in this file instead.")
    var script: String?

    func run() throws {
        if let script {
            guard let parsed = Script(try String(contentsOfFile: script, encoding: .utf8)) else {
                throw ValidationError("\(script) is not a script")
            }
            print(try Simulation.run(parsed))
            return
        }
        let total = Mutex(SimulationCounts())
        let next = Mutex(start)
        let failed = Mutex<(seed: UInt64, reason: String)?>(nil)
        let end = start + seeds
        DispatchQueue.concurrentPerform(iterations: max(1, jobs)) { _ in
            while failed.withLock({ $0 == nil }) {
                let seed = next.withLock { next in
                    defer { next += 1 }
                    return next
                }
                guard seed < end else { return }
                do {
                    let counts = try Simulation.run(Script(seed: seed))
                    total.withLock { $0 += counts }
                } catch {
                    failed.withLock { $0 = $0 ?? (seed, "\(error)") }
                }
            }
        }
        if let (seed, reason) = failed.withLock({ $0 }) { try report(seed, reason) }
        let counts = total.withLock { $0 }
        print(
            """
            \(counts.runs) runs, \(counts.writes) writes, \(counts.sessions) sessions of which \(counts.cuts) cut, \
            \(counts.recordsMoved) records moved, \(counts.deletions) deletions, \(counts.revivals) revivals, \
            \(counts.holds) holds, \(counts.restores) backups restored, \(counts.upgrades) upgrades, \
            \(counts.purged) deletions forgotten, \(counts.partings) pairings ended, \
            \(counts.startOvers) machines started over, \(counts.unsettled) sessions unsettled by a third machine, \
            \(counts.reconciliations) reconciliations, \(counts.resyncs) of them because of unequal digests
            """)
    }

    private func report(_ seed: UInt64, _ reason: String) throws {
        print("seed \(seed) failed: \(reason)\nshortened:")
        let short = Script(seed: seed).shortened { (try? Simulation.run($0)) == nil }
        print(short)
        do {
            _ = try Simulation.run(short)
        } catch {
            print("which fails with: \(error)")
        }
        throw ExitCode.failure
    }
}
