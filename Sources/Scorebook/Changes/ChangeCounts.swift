import PeerSync

/// Says how many records of each kind changed, where there are too many to say which.
struct ChangeCounts {
    private let counts: [String: [ArrivedChanges.Kind: Int]]

    init(_ changes: ArrivedChanges) {
        counts = changes.counts
    }

    /// As in “876 new matches”, “12 deleted games”. What belongs to matches counts only if nothing else changed.
    var words: [String] {
        let words = words([.match, .game, .person])
        return words.isEmpty ? self.words([.score, .player, .matchLocation, .matchImage]) : words
    }

    private func words(_ kinds: [RecordKind]) -> [String] {
        kinds.flatMap { kind in
            [(ArrivedChanges.Kind.added, "new"), (.changed, "changed"), (.removed, "deleted")].compactMap {
                change, adjective in
                let count = counts[kind.recordType]?[change] ?? 0
                return count == 0 ? nil : kind.counted(count, adjective)
            }
        }
    }
}
