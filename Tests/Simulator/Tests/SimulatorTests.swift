import SyncSimulator
import Testing

/// A bounded number of simulations; `swift run simulate --seeds N` runs any number.
struct SimulatorTests {
    @Test(arguments: 0..<6)
    func whatMustHoldHoldsInEverySimulation(part: UInt64) async throws {
        var total = SimulationCounts()
        for seed in part * 50 + 1...part * 50 + 50 {
            do {
                await Task.yield()
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
        #expect(total.doubles > 10)
        #expect(total.filesMoved > 100)
        #expect(total.deletions > 10)
        #expect(total.revivals > 0)
        #expect(total.holds > 100)
        #expect(total.hidden > 10)
        #expect(total.undone > 2)
        #expect(total.restores > 0)
        #expect(total.upgrades > 2)
        #expect(total.purged > 5)
        #expect(total.pairings > 50)
    }

    /// Everything that can happen in one step; `swift run -c release simulate --complete 2` tries two.
    @Test func whatMustHoldHoldsAfterWhateverHappens() async throws {
        var total = SimulationCounts()
        for script in CompleteTrial(length: 1) {
            do {
                await Task.yield()
                total += try Simulation.run(script)
            } catch {
                Issue.record("\(error), after:\n\(script)")
            }
        }
        #expect(total.runs == 23)
        #expect(total.hidden > 10)
    }

    @Test func aScriptIsWrittenAndReadBack() throws {
        let script = Script(seed: 7)
        #expect(try #require(Script(script.description)).description == script.description)
        #expect(Script("machines 9 1") == nil)
        #expect(Script("machines 2 1\njump 0 1 5") == nil)
    }
}
