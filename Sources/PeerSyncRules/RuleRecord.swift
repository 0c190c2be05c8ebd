import PeerSyncModel

/// The facts about one record that the rules between records need.
package struct RuleRecord: Sendable, Equatable {
    /// The value of a reference field.
    package enum Target: Sendable, Equatable {
        /// Null, or a field that nobody has written.
        case none
        case record(RecordName)
        /// A value that does not name a record of the type that the reference leads to.
        case invalid
        /// The key of a row that this machine has, and that sync cannot name.
        case unnamedRow
    }

    /// One reference of the record's type.
    package struct Reference: Sendable, Equatable {
        package let rule: DeleteRule
        package let isRequired: Bool
        package let target: Target
        /// The stamp of the reference's last write; nil for a field that nobody has written.
        package let stamp: Stamp?

        package init(rule: DeleteRule, isRequired: Bool, target: Target, stamp: Stamp?) {
            self.rule = rule
            self.isRequired = isRequired
            self.target = target
            self.stamp = stamp
        }
    }

    package let name: RecordName
    /// The zone that the record is in. Rules do not lead from one zone into another.
    package let zone: Int64
    /// The newest stamp that supports the record itself: of a field, or of its revival.
    package let life: Stamp?
    /// The stamp of the record's own deletion.
    package let deletion: Stamp?
    /// Whether the record was deleted for ever: only a new write brings it back.
    package let isErased: Bool
    /// Whether fields of the record are known.
    package let hasFields: Bool
    /// The references of the record's type; nil for a type that the schema does not know.
    package let references: [Reference]?

    package init(
        name: RecordName, zone: Int64, life: Stamp?, deletion: Stamp?, isErased: Bool = false,
        hasFields: Bool, references: [Reference]?
    ) {
        self.name = name
        self.zone = zone
        self.life = life
        self.deletion = deletion
        self.isErased = isErased
        self.hasFields = hasFields
        self.references = references
    }

    /// Whether the record has a deletion, and no newer ``life``.
    package var isDeleted: Bool { isDeleted(livingAt: life) }

    /// Returns whether the record would be deleted if this were its ``life``.
    func isDeleted(livingAt life: Stamp?) -> Bool {
        guard let deletion else { return false }
        guard let life, !isErased else { return true }
        return life <= deletion
    }

    /// The records that this one cannot be shown without.
    package var needed: [RecordName] {
        (references ?? []).compactMap { reference in
            guard reference.rule.needsTarget, case .record(let target) = reference.target else { return nil }
            return target
        }
    }

    /// The references that are empty while their target is not shown.
    var nullified: [(target: RecordName, stamp: Stamp)] {
        (references ?? []).compactMap { reference in
            guard !reference.rule.needsTarget, case .record(let target) = reference.target,
                let stamp = reference.stamp
            else { return nil }
            return (target, stamp)
        }
    }
}

/// The records that the rules may ask for. The code that applies the rules loads them.
package protocol Neighbourhood {
    /// Returns the record with a name; nil if nothing is known of it.
    mutating func record(_ name: RecordName) throws -> RuleRecord?

    /// Returns whether a record is known to be shown, and no record above it to be deleted. Then the rules look no
    /// further up.
    mutating func isSound(_ name: RecordName) throws -> Bool

    /// Returns the records that refer to a record, by any reference.
    mutating func referrers(of name: RecordName) throws -> [RecordName]
}
