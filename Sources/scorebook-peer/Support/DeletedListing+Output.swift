import Scorebook

extension ListOptions {
    /// Writes the deleted records of a type that can be restored.
    func writeDeleted(_ type: String, of store: OpenStore) async throws {
        try await write(deleted: store.scorebook.deletedRecords(type: type), of: store)
    }

    /// Writes a list of deleted records: who deleted them and when, and until when they can be restored.
    func write(deleted list: [DeletedListing], of store: OpenStore) async throws {
        try await write(
            list, of: store, header: ["DELETED", "BY", "WHAT", "WITH IT", "AT LEAST UNTIL"],
            none: "there is no deleted record that can be restored"
        ) {
            [
                store.scorebook.time.text($0.deletedAt), $0.machine.words, $0.words,
                $0.companions.counted("record"), store.scorebook.time.dayText($0.restorableUntil),
            ]
        }
    }
}

extension DeletedListing {
    /// As in “Hearts, 2026-11-20 20:15 (Ada, Alan)”.
    fileprivate var words: String {
        (title ?? "-") + (players.isEmpty ? "" : " (\(players.joined(separator: ", ")))")
    }
}
