import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// Changes that concern no other record take a shorter way. What the database holds afterwards must be the same.
struct ChangedRecordsTests {
    @Test(arguments: [UInt64](1...40)) func bothWaysEndAlike(_ seed: UInt64) async throws {
        let short = try await RandomChanges(seed: seed, takesShortWays: true)
        let long = try await RandomChanges(seed: seed, takesShortWays: false)
        for step in 1...30 {
            try short.step()
            try long.step()
            guard step.isMultiple(of: 6) else { continue }
            let difference = try Set(short.contents()).symmetricDifference(long.contents())
            try #require(difference.isEmpty, "step \(step)")
        }
    }
}
