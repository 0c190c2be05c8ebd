import PeerSyncModel

/// The rule that a newer write brings a deleted record back: a write of the record itself, or of any record below it,
/// however far.
///
/// A record is **below** another if it refers with the rule cascade or deny to that record, or to a record below that
/// one. A record **supports** itself and the records above it with its newest stamp. A reference with the rule nullify
/// supports its target with the stamp of the reference itself. A deleted record supports nobody, but the records below
/// it do.
///
/// The result depends on the states alone: the greatest stamp that supports a deleted record becomes its revival, if
/// it is greater than the deletion.
package enum Revival {
    /// A record that has changed.
    package struct Change {
        let before: RuleRecord?
        let after: RuleRecord

        /// - Parameter before: nil for a record that was unknown before.
        package init(before: RuleRecord?, after: RuleRecord) {
            self.before = before
            self.after = after
        }

        /// Whether the rule has to ask the records below again: they may support this record, or the records above it.
        fileprivate var isUprooted: Bool {
            guard let before else { return true }
            return before.deletion != after.deletion || before.isErased != after.isErased
                || before.references?.map(\.target) != after.references?.map(\.target)
        }
    }

    /// Returns the revivals that follow from some changes.
    ///
    /// It visits the records above the changed ones, up to sound ones. Below a changed record it visits records only
    /// if the record is new, or if its deletion, its erasure or its references have changed. With n visited records,
    /// it takes time and memory in proportion to `n log n`; it does not recurse.
    ///
    /// - Parameter neighbourhood: the records after the changes.
    /// - Returns: the stamps to raise the records' revivals to. Once they are raised, the same call returns nothing.
    package static func stamps(
        after changes: [Change], in neighbourhood: inout some Neighbourhood
    ) throws -> [RecordName: Stamp] {
        var sources = try records(
            below: changes.filter(\.isUprooted).map(\.after.name), in: &neighbourhood)
        for change in changes { sources[change.after.name] = change.after }
        return try spread(from: sources, in: &neighbourhood)
    }

    /// Returns some records, and the records that may support them.
    private static func records(
        below uprooted: [RecordName], in neighbourhood: inout some Neighbourhood
    ) throws -> [RecordName: RuleRecord] {
        var found: [RecordName: RuleRecord] = [:]
        var visited = Set(uprooted)
        var waiting = uprooted
        while let name = waiting.popLast() {
            guard let record = try neighbourhood.record(name) else { continue }
            found[name] = record
            for name in try neighbourhood.referrers(of: name) {
                guard let referrer = try neighbourhood.record(name), referrer.zone == record.zone else {
                    continue
                }
                let isBelow = referrer.needed.contains(record.name)
                guard isBelow || record.isDeleted else { continue }
                found[name] = referrer
                // The records below a referrer with the rule nullify matter only if the referrer is deleted, too, and
                // may come back.
                guard isBelow || referrer.isDeleted else { continue }
                if visited.insert(name).inserted { waiting.append(name) }
            }
        }
        return found
    }

    /// Carries each stamp upwards from the record that has it, the greatest first. The first stamp that reaches a
    /// record is the greatest, so later ones need not visit it again.
    private static func spread(
        from sources: [RecordName: RuleRecord], in neighbourhood: inout some Neighbourhood
    ) throws -> [RecordName: Stamp] {
        var stamps = MaxHeap<RuleRecord, Stamp>()
        for record in sources.values where !record.isDeleted {
            if let life = record.life { stamps.insert(record, life) }
        }
        var reached: Set<RecordName> = []
        var revivals: [RecordName: Stamp] = [:]
        while let (record, stamp) = stamps.popMax() {
            guard reached.insert(record.name).inserted else { continue }
            if record.isDeleted, !record.isDeleted(livingAt: stamp) { revivals[record.name] = stamp }
            for name in record.needed where !reached.contains(name) {
                guard let above = try unsound(name, from: record, in: &neighbourhood) else { continue }
                stamps.insert(above, stamp)
            }
            guard !record.isDeleted || revivals[record.name] != nil else { continue }
            // These are not greater than the stamp that has come here, because each belongs to a field of the record.
            for reference in record.nullified {
                guard let target = try unsound(reference.target, from: record, in: &neighbourhood),
                    target.isDeleted, !target.isDeleted(livingAt: reference.stamp)
                else { continue }
                stamps.insert(target, reference.stamp)
            }
        }
        return revivals
    }

    /// Returns the target of a reference, if the rules may concern it.
    private static func unsound(
        _ name: RecordName, from record: RuleRecord, in neighbourhood: inout some Neighbourhood
    ) throws -> RuleRecord? {
        guard try !neighbourhood.isSound(name), let target = try neighbourhood.record(name) else {
            return nil
        }
        // Rules do not lead from one zone into another.
        return target.zone == record.zone ? target : nil
    }
}
