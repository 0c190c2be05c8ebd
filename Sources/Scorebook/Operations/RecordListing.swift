import PeerSync

/// A record in a list, with further data about it.
public protocol RecordListing: Encodable, Sendable {
    /// The record.
    var recordName: RecordName { get }
    /// The name of the record's zone on this machine.
    var zone: String { get }
}

extension ScorebookStore {
    /// Returns what makes short ids of records, by record type; see ``RecordChoice/Candidate/id``.
    ///
    /// - Parameter types: the record types.
    public func shortIDs(of types: Set<String>) async throws -> [String: ShortIDs] {
        try await read { db in
            try types.reduce(into: [:]) { ids, type in ids[type] = try ShortIDs(db, type) }
        }
    }
}
