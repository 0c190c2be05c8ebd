/// The machines that accept each other: introductions, and which of them were removed. Protocol/ "The household" is
/// normative.
///
/// Merging is the union, so replicas come to the same set in every order, however often they hear of it, as long as a set
/// has room for all. A removal wins against its introduction for good. A machine comes back only by a new introduction, which only a pairing makes.
package struct Household: Sendable, Hashable {
    /// The most entries of a set, removed ones included.
    package static let maximumCount = 1000
    /// Bytes of a digest.
    package static let digestLength = 32

    /// What a set says of a machine.
    package enum Standing: Sendable, Equatable {
        /// Nobody has introduced it.
        case unknown
        /// By its newest introduction in force.
        case member(Introduction)
        /// By the last of the removals of its introductions.
        case removed(HouseholdEntry.Removal)
    }

    private var byID: [Introduction.ID: HouseholdEntry] = [:]
    /// The entries of each machine, by its key: whoever asks for a thousand machines must not read a thousand entries for each.
    private var byKey: [[UInt8]: Set<Introduction.ID>] = [:]

    package init() {}

    /// Makes a set of entries; of two with one id, it keeps what both say.
    package init(_ entries: some Sequence<HouseholdEntry>) {
        take(entries, limit: Self.maximumCount)
    }

    /// The entries in ascending order of id.
    package var entries: [HouseholdEntry] { byID.values.sorted { $0.id < $1.id } }

    package var isEmpty: Bool { byID.isEmpty }
    package var count: Int { byID.count }

    /// The canonical encoding: what is told, and what the digest covers.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        VariableLengthInteger.append(UInt64(count), to: &bytes)
        for entry in entries { bytes += entry.encoded }
        return bytes
    }

    package var digest: [UInt8] { BLAKE2b.hash(encoded, length: Self.digestLength) }

    // MARK: Changing

    /// Takes in what another replica of the set holds.
    ///
    /// - Parameter limit: the most entries. What this set holds stays: nobody can push out a machine, or a removal, by
    ///   telling more than fits.
    package mutating func merge(_ other: Household, limit: Int = Household.maximumCount) {
        take(other.byID.values, limit: limit)
    }

    /// Adds an introduction. One that is known already, and may be removed, stays as it is.
    ///
    /// - Returns: whether the set has it: false if it had no room.
    @discardableResult
    package mutating func introduce(_ introduction: Introduction) -> Bool {
        take([HouseholdEntry(introduction)], limit: Self.maximumCount)
        return byID[introduction.id] != nil
    }

    /// Removes a machine: ends all introductions of its key that are in force.
    ///
    /// - Returns: whether it was a member.
    @discardableResult
    package mutating func remove(_ key: [UInt8], _ removal: HouseholdEntry.Removal) -> Bool {
        var wasMember = false
        for entry in entries(of: key) where entry.removal == nil {
            byID[entry.id]?.removal = removal
            wasMember = true
        }
        return wasMember
    }

    /// Brings held entries up to date, and then adds others as far as there is room: removed ones first.
    private mutating func take(_ entries: some Sequence<HouseholdEntry>, limit: Int) {
        var others: [Introduction.ID: HouseholdEntry] = [:]
        for entry in entries {
            if let held = byID[entry.id] {
                byID[entry.id] = held.merged(with: entry)
            } else {
                others[entry.id] = others[entry.id]?.merged(with: entry) ?? entry
            }
        }
        let ranked = others.values.sorted {
            ($0.removal == nil) == ($1.removal == nil) ? $0.id < $1.id : $0.removal != nil
        }
        for entry in ranked.prefix(max(0, limit - byID.count)) {
            byID[entry.id] = entry
            byKey[entry.introduction.key, default: []].insert(entry.id)
        }
    }

    // MARK: Asking

    private func entries(of key: [UInt8]) -> [HouseholdEntry] { (byKey[key] ?? []).compactMap { byID[$0] } }

    /// What the set says of the machine with a static key.
    package func standing(of key: [UInt8]) -> Standing {
        let entries = entries(of: key)
        let inForce = entries.filter { $0.removal == nil }.map(\.introduction)
        if let newest = inForce.max(by: Self.isOlder) { return .member(newest) }
        return entries.compactMap(\.removal).max().map(Standing.removed) ?? .unknown
    }

    /// The members, each by its newest introduction in force, in order of key.
    package var members: [Introduction] {
        var newest: [[UInt8]: Introduction] = [:]
        for entry in byID.values where entry.removal == nil {
            let introduction = entry.introduction
            if let known = newest[introduction.key], !Self.isOlder(known, introduction) { continue }
            newest[introduction.key] = introduction
        }
        return newest.values.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }

    /// The introduction by which a machine first became the member that it is; nil if it is none. Machines that are paired
    /// later introduce those that were there before, too, so the newest one does not say who brought a machine in.
    package func first(of key: [UInt8]) -> Introduction? {
        entries(of: key).filter { $0.removal == nil }.map(\.introduction).min(by: Self.isOlder)
    }

    /// The keys that somebody introduced, and that are no members any more.
    package var removedKeys: Set<[UInt8]> {
        Set(byKey.keys).subtracting(members.map(\.key))
    }

    /// What a machine was called when somebody introduced it last; nil if nobody did.
    package func name(of key: [UInt8]) -> String? {
        entries(of: key).map(\.introduction).max(by: Self.isOlder)?.name
    }

    private static func isOlder(_ left: Introduction, _ right: Introduction) -> Bool {
        left.time == right.time ? left.id < right.id : left.time < right.time
    }
}
