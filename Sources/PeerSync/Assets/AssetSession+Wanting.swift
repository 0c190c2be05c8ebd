import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore

extension AssetSession {
    /// Finds the files that records want since the last refresh, and tells the peer how much that is. The peer must
    /// know before it hears of a digest.
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
            // Another zone has refreshed meanwhile, and may know of files that this refresh has not seen.
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

    /// Whether a file that this session waits for may no longer be wanted.
    private func isLess(_ wanted: WantedAssets) -> Bool {
        receiver.wantsAny && wanted.lastLeftover != known.lastLeftover
    }

    /// Makes the next refresh read all wanted files again, because a file may be gone.
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
