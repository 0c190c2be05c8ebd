import PeerSync

/// A record in a list, with further data about it.
public protocol RecordListing: Encodable, Sendable {
    /// The record.
    var recordName: RecordName { get }
    /// The name of the record's zone on this machine.
    var zone: String { get }
}

extension ScorebookStore {
    /// Returns a short id of each record; see ``RecordChoice/Candidate/id``.
    public func shortIDs(of names: [RecordName]) async throws -> [RecordName: String] {
        try await read { db in
            var ids: [String: ShortIDs] = [:]
            return try Dictionary(
                names.map { name in
                    let known = try ids[name.recordType] ?? ShortIDs(db, name.recordType)
                    ids[name.recordType] = known
                    return (name, known.id(name))
                }, uniquingKeysWith: { first, _ in first })
        }
    }
}
