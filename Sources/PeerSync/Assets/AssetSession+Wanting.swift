import RecordStore
import SyncModel
import SyncProtocol

extension AssetSession {
    /// Looks for files that have come to be wanted, and says so; so the peer knows before it is told of a digest.
    func refresh() async throws {
        let begin = isFullLookDue ? 0 : known.last
        isFullLookDue = false
        looks += 1
        let number = looks
        var wanted = try await store.assets.wanted(after: begin, in: zones)
        var isFull = begin == 0
        if !isFull, wanted.policy != known.policy || wanted.wishes != known.wishes || isLess(wanted) {
            wanted = try await store.assets.wanted(after: 0, in: zones)
            isFull = true
        }
        for asset in wanted.list {
            receiver.want(asset.hash, size: asset.size, isUrgent: wanted.wishes.contains(asset.hash))
        }
        if isFull, number != looks {
            // Another zone has looked meanwhile, and may know of files that this look has not seen.
            isFullLookDue = true
        } else if isFull {
            let hashes = Set(wanted.list.map(\.hash))
            receiver.keepOnly(hashes)
            withoutRoom.formIntersection(hashes)
        }
        wanted.list = []
        known = wanted
        try await tellOwed()
        try tell()
        wake.raise()
    }

    /// Whether something may not be wanted any more that is waited for.
    private func isLess(_ wanted: WantedAssets) -> Bool {
        receiver.wantsAny && wanted.lastLeftover != known.lastLeftover
    }

    /// Looks at all files again, because one may be gone.
    func lookAgain() {
        isFullLookDue = true
        wake.raise()
    }

    /// Tells the peer how much this side is going to ask for, when that has changed.
    func tell() throws {
        let remaining = receiver.remaining
        if let told {
            guard remaining != told.what else { return }
            let isTurn = (remaining.files == 0) != (told.what.files == 0)
            guard isTurn || ContinuousClock.now - told.when > Self.tellInterval else { return }
        }
        told = (remaining, .now)
        try outbox.send(.assetsWanted(remaining))
        if remaining.files == 0 { reportReceived() }
    }
}
