import Testing

@testable import SyncSimulator

/// A bounded number of simulations; `scripts/simulate --seeds N` runs any number.
struct SimulatorTests {
    /// Chosen from the first hundred, so that a few simulations do all that many do: the counts below, and those of the
    /// next test, say what. `.ci/run` takes the seeds as they come, and many more.
    private static let seeds: [UInt64] = [
        4, 12, 14, 18, 19, 22, 26, 28, 30, 32, 34, 39, 40, 41, 50, 56, 61, 64, 66, 78, 81, 82,
    ]

    @Test func whatMustHoldHoldsInEverySimulation() async throws {
        var total = SimulationCounts()
        for seed in Self.seeds {
            do {
                await Task.yield()
                total += try Simulation.run(Script(seed: seed))
            } catch {
                Issue.record(
                    "seed \(seed): \(error); `scripts/simulate --start \(seed) --seeds 1` shortens it")
            }
        }
        // Runs that go through nothing would hold as well.
        #expect(total.runs == Self.seeds.count)
        #expect(total.writes > 300)
        #expect(total.sessions > 300)
        #expect(total.cuts > 10)
        #expect(total.doubles > 10)
        #expect(total.recordsMoved > 1000)
        #expect(total.filesMoved > 100)
        #expect(total.deletions > 10)
        #expect(total.revivals > 10)
        #expect(total.holds > 100)
        #expect(total.hidden > 10)
        #expect(total.undone > 2)
        #expect(total.restores > 2)
        #expect(total.upgrades > 2)
        #expect(total.purged > 20)
        #expect(total.pairings > 50)
        #expect(total.partings > 5)
        #expect(total.startOvers > 1)
        #expect(total.reconciliations > 50)
    }

    /// Another choice of seeds could leave out a kind of step, or all simulations with many machines.
    @Test func theSeedsHaveEveryKindOfStepAndEveryNumberOfMachines() {
        let (chosen, many) = (Self.seeds.map(Script.init(seed:)), (1...300).map(Script.init(seed:)))
        #expect(Set(chosen.map(\.machines)) == Set(many.map(\.machines)))
        let kinds = Set(chosen.flatMap(\.steps).map(\.kind))
        #expect(kinds == Set(many.flatMap(\.steps).map(\.kind)))
        #expect(
            kinds
                == Set(Script.Step.Kind.allCases).subtracting([
                    .exact, .pair, .remove, .forget, .introduce, .grant, .decide,
                ]))
    }

    /// Machines that ask before they show what would take much away; whatever their users say, all come to the same.
    @Test func machinesThatAskComeToTheSame() async throws {
        var total = SimulationCounts()
        for seed in 1...15 as ClosedRange<UInt64> {
            do {
                await Task.yield()
                total += try Simulation.run(Script(seed: seed, hasFuses: true))
            } catch {
                Issue.record(
                    "seed \(seed): \(error); `scripts/simulate --fuses --start \(seed) --seeds 1` shortens it"
                )
            }
        }
        #expect(total.decisions > 10)
    }

    /// Everything that can happen in one step; `scripts/simulate --complete 2` tries two.
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

    /// Households that take in and lose machines, some of which are away or set back.
    @Test func nobodyWhoWasRemovedIsAccepted() async throws {
        var total = SimulationCounts()
        for seed in 1...20 as ClosedRange<UInt64> {
            do {
                await Task.yield()
                total += try Simulation.run(Script(householdSeed: seed))
            } catch {
                Issue.record(
                    "household seed \(seed): \(error); `simulate --households --start \(seed) --seeds 1` shortens it"
                )
            }
        }
        #expect(total.runs == 20)
        #expect(total.pairings > 20)
        #expect(total.introductions > 8)
        #expect(total.removals > 8)
        #expect(total.partings > 4)
        #expect(total.restores > 0)
        #expect(total.cuts > 0)
    }

    /// Two pairings, a removal, and each way in which the three machines can hear of it: in every order.
    @Test func whatHappensInAHouseholdMayComeInAnyOrder() async throws {
        let steps: [(Script.Step.Kind, Int, Int)] = [
            (.pair, 1, 0), (.pair, 2, 0), (.remove, 0, 2), (.session, 1, 0), (.session, 2, 1),
        ]
        var total = SimulationCounts()
        for order in Self.orders(steps) {
            let script = Script(
                exactly: order.enumerated().map { number, step in
                    Script.Step(kind: step.0, machine: step.1, other: step.2, seed: UInt64(number))
                }, machines: 3, isOfHousehold: true)
            do {
                await Task.yield()
                total += try Simulation.run(script)
            } catch {
                Issue.record("\(error), after:\n\(script)")
            }
        }
        #expect(total.runs == 120)
        #expect(total.removals == 60)
        #expect(total.introductions > 60)
    }

    private static func orders<Element>(_ elements: [Element]) -> [[Element]] {
        guard !elements.isEmpty else { return [[]] }
        return elements.indices.flatMap { index in
            var rest = elements
            let first = rest.remove(at: index)
            return orders(rest).map { [first] + $0 }
        }
    }

    @Test func aScriptIsWrittenAndReadBack() throws {
        let household = Script(householdSeed: 7)
        #expect(try #require(Script(household.description)).description == household.description)
        let script = Script(seed: 7)
        #expect(try #require(Script(script.description)).description == script.description)
        #expect(Script("machines 9 1") == nil)
        #expect(Script("machines 2 1\njump 0 1 5") == nil)
    }
}
