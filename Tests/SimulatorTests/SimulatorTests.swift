import SyncSimulator
import Testing

/// A bounded number of simulations; `swift run simulate --seeds N` runs any number.
struct SimulatorTests {
    @Test(arguments: 0..<6)
    func whatMustHoldHoldsInEverySimulation(part: UInt64) throws {
        var total = SimulationCounts()
        for seed in part * 50 + 1...part * 50 + 50 {
            do {
                total += try Simulation.run(Script(seed: seed))
            } catch {
                Issue.record(
                    "seed \(seed): \(error); `swift run simulate --start \(seed) --seeds 1` shortens it")
            }
        }
        // Runs that go through nothing would hold as well.
        #expect(total.runs == 50)
        #expect(total.writes > 300)
        #expect(total.cuts > 10)
        #expect(total.deletions > 10)
        #expect(total.revivals > 0)
        #expect(total.holds > 100)
        #expect(total.restores > 0)
        #expect(total.upgrades > 2)
        #expect(total.purged > 5)
    }

    @Test func aScriptIsWrittenAndReadBack() throws {
        let script = Script(seed: 7)
        #expect(try #require(Script(script.description)).description == script.description)
        #expect(Script("machines 9 1") == nil)
        #expect(Script("machines 2 1\njump 0 1 5") == nil)
    }
}
