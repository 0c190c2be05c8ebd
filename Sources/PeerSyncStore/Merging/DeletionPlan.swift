import GRDB
import PeerSyncModel

/// Finds the records that go with a record that is deleted here.
///
/// It follows the relationships in the schema's priority order, depth first. It removes a record after it has
/// disconnected or removed everything that referred to the record. It visits each record once, so cycles end.
struct DeletionPlan {
    let tables: RecordTables

    func steps(_ db: Database, deleting name: RecordName) throws -> [DeletionStep] {
        guard let table = tables[name.recordType] else {
            throw RecordStoreError(
                .noSuchRecord,
                "“\(name.recordType)” is no record type of this store, so \(name) cannot be there")
        }
        guard try table.exists(db, name) else {
            throw RecordStoreError(.noSuchRecord, "there is no record \(name)")
        }
        let walk = try walk(db, from: name)
        // A record that denies the deletion is no obstacle if it goes with the deletion by another reference.
        let denying = walk.denying.filter { !walk.visited.contains($0) }
        guard denying.isEmpty else {
            let names = denying.prefix(5).map(\.description).joined(separator: ", ")
            let more = denying.count > 5 ? " and \(denying.count - 5) more" : ""
            throw RecordStoreError(
                .deletionDenied, "\(name) cannot be deleted while these records refer to it: \(names)\(more)")
        }
        return walk.steps
    }

    private struct Walk {
        var steps: [DeletionStep] = []
        var visited: Set<RecordName> = []
        var denying: [RecordName] = []
    }

    /// A record on the way down, with the records that refer to it and still have to be visited.
    private struct Visit {
        let name: RecordName
        let field: String?
        var referrers: ArraySlice<(relationship: Relationship, name: RecordName)>
    }

    /// A chain of records has no bound, so a list holds the way down, not the stack.
    private func walk(_ db: Database, from name: RecordName) throws -> Walk {
        var walk = Walk()
        walk.visited.insert(name)
        var path = [Visit(name: name, field: nil, referrers: try referrers(db, of: name))]
        while let current = path.indices.last {
            guard let (relationship, referrer) = path[current].referrers.popFirst() else {
                let done = path.removeLast()
                walk.steps.append(DeletionStep(name: done.name, action: .delete, field: done.field))
                continue
            }
            switch relationship.rule {
            case .cascade:
                guard walk.visited.insert(referrer).inserted else { continue }
                path.append(
                    Visit(
                        name: referrer, field: relationship.field, referrers: try referrers(db, of: referrer))
                )
            case .nullify:
                guard !walk.visited.contains(referrer) else { continue }
                walk.steps.append(DeletionStep(name: referrer, action: .nullify, field: relationship.field))
            case .deny:
                walk.denying.append(referrer)
            }
        }
        return walk
    }

    /// The records that refer to a record, by relationship in priority order.
    private func referrers(_ db: Database, of name: RecordName) throws
        -> ArraySlice<(relationship: Relationship, name: RecordName)>
    {
        var referrers: [(relationship: Relationship, name: RecordName)] = []
        for relationship in tables.schema.relationships(to: name.recordType) {
            let table = tables[relationship.recordType]
            for referrer in try table?.referrers(db, by: relationship.field, to: name) ?? [] {
                referrers.append((relationship, referrer))
            }
        }
        return referrers[...]
    }
}
