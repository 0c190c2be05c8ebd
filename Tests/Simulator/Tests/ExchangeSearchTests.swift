import SyncSimulator
import Testing

/// Every order of what happens in an exchange, with a write, a cut, a crash or a restore at any moment. `scripts/simulate
/// --exchange` tries more.
struct ExchangeSearchTests {
    /// How much of a search fits between other tests, and how many states it has then. If the sessions do less at once, there
    /// are fewer orders, and this says nothing any more.
    @Test(arguments: [
        (ExchangeSearch.Scene.copy, 0, 1500), (.meeting, 1, 50_000), (.changes, 1, 60_000),
    ]) func everyOrderLeadsToTheSame(scene: ExchangeSearch.Scene, events: Int, states: Int) throws {
        #expect(try ExchangeSearch.run(scene, events: events).states > states)
    }
}
