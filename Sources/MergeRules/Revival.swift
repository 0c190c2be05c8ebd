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
    /// The revivals that follow from states of which some have just changed.
    ///
    /// Looks only at the records above the changed ones, as long as none of these is deleted. Takes time and memory in
    /// proportion to the records below those that are, times the logarithm of their number; it does not recurse.
    ///
    /// - Returns: the stamps to raise the records' revival to. Once they are raised, the same call gives nothing.
    package static func stamps(
        after changed: some Sequence<RecordName>, in neighbourhood: inout some Neighbourhood
    ) throws -> [RecordName: Stamp] {
        let deleted = try deletedRecords(above: changed, in: &neighbourhood)
        guard !deleted.isEmpty else { return [:] }
        let below = try records(below: deleted, in: &neighbourhood)
        return try spread(from: below, in: &neighbourhood)
    }

    /// The deleted records that the changed ones may speak for, the changed ones themselves among them.
    private static func deletedRecords(
        above changed: some Sequence<RecordName>, in neighbourhood: inout some Neighbourhood
    ) throws -> [RuleRecord] {
        var waiting = Array(changed)
        var visited = Set(waiting)
        var deleted: [RuleRecord] = []
        while let name = waiting.popLast() {
            guard let record = try neighbourhood.record(name) else { continue }
            if record.isDeleted { deleted.append(record) }
            var above = record.needed
            for reference in record.nullified {
                // A reference that is not newer than the deletion of its target does not speak for it.
                guard let target = try neighbourhood.record(reference.target), target.isDeleted,
                    !target.isDeleted(livingAt: reference.stamp)
                else { continue }
                above.append(reference.target)
            }
            for name in above {
                guard try neighbourhood.record(name)?.zone == record.zone else { continue }
                if visited.insert(name).inserted { waiting.append(name) }
            }
        }
        return deleted
    }

    /// The records that may speak for deleted ones, and these.
    private static func records(
        below deleted: [RuleRecord], in neighbourhood: inout some Neighbourhood
    ) throws -> [RecordName: RuleRecord] {
        var found = Dictionary(uniqueKeysWithValues: deleted.map { ($0.name, $0) })
        var waiting = deleted
        var visited = Set(found.keys)
        while let record = waiting.popLast() {
            for name in try neighbourhood.referrers(of: record.name) {
                guard let referrer = try neighbourhood.record(name), referrer.zone == record.zone else {
                    continue
                }
                let isBelow = referrer.needed.contains(record.name)
                guard isBelow || record.isDeleted else { continue }
                found[name] = referrer
                // What is below a record that refers to this one by nullify matters only if that record is deleted, too, and
                // may come back.
                guard isBelow || referrer.isDeleted else { continue }
                if visited.insert(name).inserted { waiting.append(referrer) }
            }
        }
        return found
    }

    /// Lets each stamp go up from the record that it speaks for, the greatest first. A record that one has reached need
    /// not be visited again.
    private static func spread(
        from records: [RecordName: RuleRecord], in neighbourhood: inout some Neighbourhood
    ) throws -> [RecordName: Stamp] {
        var stamps = MaxHeap<RecordName, Stamp>()
        for record in records.values where !record.isDeleted {
            if let life = record.life { stamps.insert(record.name, life) }
        }
        var reached: Set<RecordName> = []
        var revivals: [RecordName: Stamp] = [:]
        while let (name, stamp) = stamps.popMax() {
            guard reached.insert(name).inserted, let record = records[name] else { continue }
            if record.isDeleted, !record.isDeleted(livingAt: stamp) { revivals[name] = stamp }
            for above in record.needed where records[above]?.zone == record.zone {
                stamps.insert(above, stamp)
            }
            guard !record.isDeleted || revivals[name] != nil else { continue }
            // These are not greater than the stamp that has come here, because each is that of a field of the record.
            for reference in record.nullified {
                guard let target = records[reference.target], target.zone == record.zone, target.isDeleted,
                    !target.isDeleted(livingAt: reference.stamp)
                else { continue }
                stamps.insert(reference.target, reference.stamp)
            }
        }
        return revivals
    }
}
