import SyncModel

/// What is newer than a deletion brings the deleted record back: a write in the record itself, or in any record below it,
/// however far.
///
/// A record is **below** another if it refers to it with the rule cascade or deny, or to a record below it. A reference
/// with the rule nullify speaks for its target with the stamp of the reference itself. A record that is deleted itself
/// speaks for nobody, but what is below it does.
///
/// The result is a function of the states alone: of all stamps that speak for a deleted record the greatest becomes its
/// revival, if it is greater than the deletion.
package enum Revival {
    /// A record that has changed.
    package struct Change {
        let before: RuleRecord?
        let after: RuleRecord

        /// - Parameter before: nil for a record of which nothing was known.
        package init(before: RuleRecord?, after: RuleRecord) {
            self.before = before
            self.after = after
        }

        /// Whether what is below the record has to be asked again if it speaks for it, or for what is above it.
        fileprivate var isUprooted: Bool {
            guard let before else { return true }
            return before.deletion != after.deletion || before.isErased != after.isErased
                || before.references?.map(\.target) != after.references?.map(\.target)
        }
    }

    /// The revivals that follow from some changes.
    ///
    /// Looks at the records above the changed ones, up to those that are sound; and at those below the ones that are new, or
    /// have another deletion or other references than before. Takes time and memory in proportion to the number of these,
    /// times its logarithm; it does not recurse.
    ///
    /// - Parameter neighbourhood: the records as they are after the changes.
    /// - Returns: the stamps to raise the records' revival to. Once they are raised, the same call gives nothing.
    package static func stamps(
        after changes: [Change], in neighbourhood: inout some Neighbourhood
    ) throws -> [RecordName: Stamp] {
        var sources = try records(
            below: changes.filter(\.isUprooted).map(\.after.name), in: &neighbourhood)
        for change in changes { sources[change.after.name] = change.after }
        return try spread(from: sources, in: &neighbourhood)
    }

    /// Some records, and those that may speak for them.
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
                // What is below a record that refers to this one by nullify matters only if that record is deleted, too, and
                // may come back.
                guard isBelow || referrer.isDeleted else { continue }
                if visited.insert(name).inserted { waiting.append(name) }
            }
        }
        return found
    }

    /// Lets each stamp go up from the record that it speaks for, the greatest first. A record that one has reached need
    /// not be visited again.
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
            // These are not greater than the stamp that has come here, because each is that of a field of the record.
            for reference in record.nullified {
                guard let target = try unsound(reference.target, from: record, in: &neighbourhood),
                    target.isDeleted, !target.isDeleted(livingAt: reference.stamp)
                else { continue }
                stamps.insert(target, reference.stamp)
            }
        }
        return revivals
    }

    /// The record that another one refers to, if the rules may have something to do with it.
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
