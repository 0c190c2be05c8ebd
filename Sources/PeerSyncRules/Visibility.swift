import PeerSyncModel

/// The visibility of a record on a machine. It depends only on the states that the machine holds.
package enum Visibility: Sendable, Equatable {
    /// The record has its row.
    case shown
    /// The record is deleted itself, and nothing that supports it is newer.
    case deleted
    /// The record is below a deleted record, and comes back with it. Of several deleted records, `by` is the one with
    /// the newest deletion, and `since` is the stamp of that deletion.
    case hidden(by: RecordName, since: Stamp)
    /// The record waits for something: its fields, its type, a record that it needs, or another row in its table.
    case held

    /// Finds the visibility of some records.
    ///
    /// - Parameters:
    ///   - records: the records whose visibility may have changed, with all records below them.
    ///   - refused: the records whose rows their tables refuse.
    ///   - outside: gives a record that is not among them, and its visibility; nil if nothing is known of it.
    /// - Returns: the visibility of each record. With n records and references, it takes time in proportion to
    ///   `n log n`; it does not recurse.
    package static func of(
        _ records: [RecordName: RuleRecord], refused: Set<RecordName> = [],
        outside: (RecordName) throws -> (RuleRecord, Visibility)?
    ) throws -> [RecordName: Visibility] {
        var region = try Region(records, outside: outside)
        region.hide()
        region.hold(refused)
        return region.visibility
    }
}

/// The records that the rules judge together, and the known records around them.
private struct Region {
    let records: [RecordName: RuleRecord]
    /// The records outside that records inside refer to.
    private var around: [RecordName: (record: RuleRecord, visibility: Visibility)] = [:]
    /// The records inside that refer to a name, by any reference.
    private var referrers: [RecordName: [RuleRecord]] = [:]
    private(set) var visibility: [RecordName: Visibility] = [:]

    init(
        _ records: [RecordName: RuleRecord], outside: (RecordName) throws -> (RuleRecord, Visibility)?
    ) throws {
        self.records = records
        for record in records.values {
            for target in record.targets {
                referrers[target, default: []].append(record)
                guard records[target] == nil, around[target] == nil else { continue }
                around[target] = try outside(target)
            }
        }
    }

    /// Lets each deletion hide the records below it, the newest first.
    mutating func hide() {
        var deletions = MaxHeap<(hidden: RuleRecord, by: RecordName), Stamp>()
        for record in records.values {
            if let deletion = record.deletion, record.isDeleted {
                visibility[record.name] = .deleted
                deletions.insert((record, record.name), deletion)
            }
            for target in record.needed {
                guard let (parent, visibility) = around[target], parent.zone == record.zone else { continue }
                switch visibility {
                case .hidden(let name, let stamp): deletions.insert((record, name), stamp)
                case .deleted:
                    if let deletion = parent.deletion { deletions.insert((record, target), deletion) }
                case .shown, .held: break
                }
            }
        }
        var reached: Set<RecordName> = []
        while let ((record, name), stamp) = deletions.popMax() {
            guard reached.insert(record.name).inserted else { continue }
            if visibility[record.name] == nil { visibility[record.name] = .hidden(by: name, since: stamp) }
            for referrer in referrers[record.name] ?? []
            where referrer.zone == record.zone && referrer.needed.contains(record.name) {
                deletions.insert((referrer, name), stamp)
            }
        }
    }

    /// Marks every other record as shown, and holds those that cannot be shown, until none is left. So records that
    /// refer to each other in a circle are shown together or held together.
    mutating func hold(_ refused: Set<RecordName>) {
        var waiting: [RuleRecord] = []
        for record in records.values where visibility[record.name] == nil {
            let mayBeShown = record.hasFields && record.references != nil && !refused.contains(record.name)
            visibility[record.name] = mayBeShown ? .shown : .held
            waiting.append(record)
        }
        while let record = waiting.popLast() {
            if visibility[record.name] == .shown {
                guard !isComplete(record) else { continue }
                visibility[record.name] = .held
            }
            // The records that need this one cannot be shown, so the loop checks its referrers again.
            waiting += (referrers[record.name] ?? []).filter { visibility[$0.name] == .shown }
        }
    }

    private func isShown(_ name: RecordName) -> Bool {
        visibility[name] ?? around[name]?.visibility == .shown
    }

    private func isComplete(_ record: RuleRecord) -> Bool {
        (record.references ?? []).allSatisfy { reference in
            switch reference.target {
            case .none: return !reference.isRequired
            case .invalid: return false
            case .unnamedRow: return true
            case .record(let target):
                return !reference.rule.needsTarget || isShown(target)
            }
        }
    }
}

extension RuleRecord {
    /// The records that this one refers to, by any reference.
    fileprivate var targets: [RecordName] {
        (references ?? []).compactMap { if case .record(let target) = $0.target { target } else { nil } }
    }
}
