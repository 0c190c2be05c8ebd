import PeerSyncModel

/// Vectors for the set of machines that accept each other.
enum HouseholdVectors {
    static func key(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }

    private static func introduction(
        of key: UInt8, by introducer: UInt8, nonce: UInt8, name: String, rights: Introduction.Rights = .all,
        time: Int64 = Samples.moment
    ) -> Introduction {
        guard
            let introduction = Introduction(
                nonce: [UInt8](repeating: nonce, count: 16), key: Self.key(key), name: name, rights: rights,
                introducer: Self.key(introducer), time: time)
        else { preconditionFailure("\(name) is no introduction") }
        return introduction
    }

    private static func removal(by remover: UInt8, time: Int64 = Samples.moment + 5000)
        -> HouseholdEntry.Removal
    {
        guard let removal = HouseholdEntry.Removal(by: key(remover), time: time) else {
            preconditionFailure("no removal")
        }
        return removal
    }

    private static let kitchen = introduction(of: 1, by: 2, nonce: 10, name: "kitchen")
    private static let study = introduction(of: 2, by: 1, nonce: 11, name: "study")
    private static let attic = introduction(of: 3, by: 1, nonce: 12, name: "attic")
    private static let atticAgain = introduction(
        of: 3, by: 2, nonce: 13, name: "Dachboden über allem", rights: .read, time: Samples.moment + 9000)
    private static let atticAsWell = introduction(of: 3, by: 2, nonce: 14, name: "attic")

    /// A household of three machines, one of which was removed and introduced again.
    static let household = Household([
        HouseholdEntry(kitchen), HouseholdEntry(study), HouseholdEntry(attic, removal: removal(by: 2)),
        HouseholdEntry(atticAgain),
    ])

    private static let introductions: [Introduction] = [
        kitchen, study, attic, atticAgain,
        introduction(of: 4, by: 1, nonce: 0, name: "é", time: 0),
        introduction(of: 4, by: 1, nonce: 0, name: "e\u{301}", time: 0),
        introduction(
            of: 5, by: 1, nonce: 255, name: String(repeating: "n", count: 64),
            time: Int64(VariableLengthInteger.maximum)),
    ]

    /// Two sets that meet.
    private struct Union {
        let why: String
        let one: [HouseholdEntry]
        let other: [HouseholdEntry]

        init(_ why: String, _ one: [HouseholdEntry], _ other: [HouseholdEntry]) {
            self.why = why
            self.one = one
            self.other = other
        }

        var content: JSON {
            let (one, other) = (Household(one), Household(other))
            var both = one
            both.merge(other)
            let members: [JSON] = both.members.map { ["key": .hex($0.key), "id": .hex($0.id.bytes)] }
            let removed = both.removedKeys.sorted { $0.lexicographicallyPrecedes($1) }
            return [
                "why": .string(why), "one": set(one), "other": set(other), "union": set(both),
                "members": .array(members), "removed": .array(removed.map { JSON.hex($0) }),
            ]
        }
    }

    private static var unions: [Union] {
        let (plainKitchen, plainStudy) = (HouseholdEntry(kitchen), HouseholdEntry(study))
        let (here, again, asWell) = (
            HouseholdEntry(attic), HouseholdEntry(atticAgain), HouseholdEntry(atticAsWell)
        )
        let (gone, goneByOther) = (removed(by: 1), removed(by: 2))
        return [
            Union("nothing and nothing", [], []),
            Union("what only one side knows", [plainKitchen], [plainStudy]),
            Union(
                "a machine that was away does not know of the removal", [here, plainKitchen],
                [gone, plainKitchen]),
            Union(
                "both have removed it: the earlier removal stays", [gone],
                [removed(by: 2, time: Samples.moment + 4000)]),
            Union("both have removed it in one millisecond: the smaller key stays", [goneByOther], [gone]),
            Union("it was paired anew meanwhile", [here, again], [gone]),
            Union(
                "two have introduced it: the later introduction counts, of equal times the greater id",
                [here],
                [asWell]),
            Union("one of two introductions was removed", [gone], [here, asWell]),
        ]
    }

    private static func removed(by remover: UInt8, time: Int64 = Samples.moment + 5000) -> HouseholdEntry {
        HouseholdEntry(attic, removal: removal(by: remover, time: time))
    }

    static var content: [(String, JSON)] {
        let told: [JSON] = introductions.map(describe)
        let met: [JSON] = unions.map(\.content)
        let full: [JSON] = [
            full(0, 1000), full(0, 1002), full(3, 1003), full(1001, 1003), full(0, 1003, held: 999),
            full(3, 1003, held: 998), full(3, 1003, held: 1000),
        ]
        return [("introductions", .array(told)), ("unions", .array(met)), ("full", .array(full))]
    }

    private static func describe(_ introduction: Introduction) -> JSON {
        [
            "entry": JSON.entry(HouseholdEntry(introduction)), "encoded": .hex(introduction.encoded),
            "id": .hex(introduction.id.bytes),
        ]
    }

    /// A set that may have no room for all entries, and which are left out.
    ///
    /// - Parameter held: how many the set holds before the others come.
    private static func full(_ removed: Int, _ count: Int, held: Int = 0) -> JSON {
        var entries: [HouseholdEntry] = []
        for number in 0..<count {
            let nonce = [UInt8](repeating: 0, count: 14) + [UInt8(number >> 8), UInt8(number & 255)]
            guard
                let introduction = Introduction(
                    nonce: nonce, key: key(6), name: "n", rights: .all, introducer: key(1), time: 0)
            else { preconditionFailure("no introduction") }
            entries.append(HouseholdEntry(introduction, removal: number < removed ? removal(by: 1) : nil))
        }
        var set = Household(entries.suffix(held))
        set.merge(Household(entries.dropLast(held)))
        let kept = Set(set.entries.map(\.id))
        let left: [JSON] = entries.indices.filter { !kept.contains(entries[$0].id) }.map { .number($0) }
        return [
            "count": .number(count), "removed": .number(removed), "held": .number(held),
            "removal": .decimal(removal(by: 1).time), "left": .array(left), "digest": .hex(set.digest),
        ]
    }

    private static func set(_ set: Household) -> JSON {
        [
            "entries": .array(set.entries.map(JSON.entry)), "encoded": .hex(set.encoded),
            "digest": .hex(set.digest),
        ]
    }
}

extension VectorFile {
    /// Introductions, sets of them, and what becomes of two.
    static var household: VectorFile {
        VectorFile(
            "household.json",
            "Introductions with their encoding and id; unions of two sets, with their encoding, their digest, the members by "
                + "the introduction that counts, and the machines that are removed. `full` has sets of `count` "
                + "introductions, of a machine with a key of 06 bytes, the name n, all rights, by 01 bytes, at time 0; "
                + "their nonces are the numbers from 0 on in 16 bytes; the first `removed` of them are removed, by 01 "
                + "bytes, at `removal`; `left` has the numbers of those for which there is no room.",
            section: "7.13", HouseholdVectors.content)
    }
}
