import PeerSync

extension ScorebookStore {
    /// Says in words what the records of another machine changed here, what matters most first: as in “2 new matches”, “Grace's score in
    /// Hearts”.
    ///
    /// - Returns: nothing if no change means something to people.
    public func words(for changes: ArrivedChanges) async throws -> [String] {
        guard changes.isComplete else { return ChangeCounts(changes).words }
        return try await records.database.read { [self] db in
            let words = try ChangeWords(db, records, time, changes).words
            return words.count <= ChangeWords.longest ? words : ChangeCounts(changes).words
        }
    }
}
