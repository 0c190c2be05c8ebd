import SyncModel

/// What becomes of a record on a machine: a function of the states that the machine holds.
package enum Visibility: Sendable, Equatable {
    /// The record has its row.
    case shown
    /// The record's own deletion is not older than everything that speaks for it.
    case deleted
    /// The record goes with another one, which is deleted, and comes back with it. Of several the one whose deletion is the
    /// newest, and the stamp of that deletion.
    case hidden(by: RecordName, since: Stamp)
    /// The record is live, and waits for something: its fields, its type, a record that it needs, another row in its table.
    case held

    /// Finds out what becomes of some records.
    ///
    /// - Parameters:
    ///   - records: those whose visibility may have changed, with all that are below them.
    ///   - refused: the records whose row their table does not take.
    ///   - outside: what becomes of a record that is not among them; nil when nothing is known of it.
    /// - Returns: the visibility of each record. Takes time in proportion to their number and that of their references,
    ///   times its logarithm; it does not recurse.
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

/// Records that are looked at together, and what is known of those around them.
private struct Region {
    let records: [RecordName: RuleRecord]
    /// Those outside that records inside refer to.
    private var around: [RecordName: (record: RuleRecord, visibility: Visibility)] = [:]
    /// The records inside that refer to a name, by whichever reference.
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

    /// Lets each deletion hide what is below it, the newest first.
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

    /// Takes every other record to be shown, and holds those that cannot be, until none is left: records that refer to each
    /// other in a circle are shown together or held together.
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
            // Those that need it cannot be shown.
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
            case .record(let target):
                // A reference with the rule nullify is empty for as long as there is nothing to see at its end.
                return reference.rule == .nullify || isShown(target)
            }
        }
    }
}

extension RuleRecord {
    /// The records that this one refers to, by whichever reference.
    fileprivate var targets: [RecordName] {
        (references ?? []).compactMap { if case .record(let target) = $0.target { target } else { nil } }
    }
}
