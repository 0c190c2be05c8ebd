import SyncSimulator
import Testing

/// A bounded number of simulations; `swift run simulate --seeds N` runs any number.
struct SimulatorTests {
    @Test func whatMustHoldHoldsInEverySimulation() throws {
        var total = SimulationCounts()
        for seed: UInt64 in 1...300 {
            do {
                total += try Simulation.run(Script(seed: seed))
            } catch {
                Issue.record(
                    "seed \(seed): \(error); `swift run simulate --start \(seed) --seeds 1` shortens it")
            }
        }
        // Runs that go through nothing would hold as well.
        #expect(total.runs == 300)
        #expect(total.writes > 3000)
        #expect(total.cuts > 200)
        #expect(total.deletions > 300)
        #expect(total.revivals > 30)
        #expect(total.holds > 30)
        #expect(total.restores > 20)
        #expect(total.upgrades > 30)
    }

    @Test func aScriptIsWrittenAndReadBack() throws {
        let script = Script(seed: 7)
        #expect(try #require(Script(script.description)).description == script.description)
        #expect(Script("machines 9 1") == nil)
        #expect(Script("machines 2 1\njump 0 1 5") == nil)
    }
}
