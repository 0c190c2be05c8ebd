import PeerSyncModel

extension VectorFile {
    /// Records that are too large to keep or to send.
    static func tooLarge() async throws -> [JSON] { try await manyFields() + [manyBytes()] }

    private static func manyBytes() async throws -> JSON {
        let scene = try await synced()
        // A merged state counts the size without fields only once.
        let empty = Samples.state("SBGame|~|6").size
        for (suffix, excess) in [("6", 1), ("7", 0)] {
            let most = RecordState.maximumSize
            let name = most - texts(suffix, [("name", 0)], at: 1_000, kitchen).size
            try scene.kitchen.write([texts(suffix, [("name", name)], at: 1_000, kitchen)])
            let rest = RecordState.maximumMergedSize - most + empty + excess
            for part in long(suffix, ["notes", "rules"], rest, at: 1_001, attic) {
                try scene.attic.write([part])
            }
        }
        return try await scene.session(
            "refusal of records that come to more than 16 MiB",
            "The two have made records of the same names while they were apart. The kitchen's have a size of 8 MiB, and are "
                + "sent; the attic's are larger, and are not. Game 6 would come to 16 MiB and one byte, so the attic refuses "
                + "what the kitchen has of it. Game 7 comes to 16 MiB, and is kept, though it is too large to be sent on."
        )
    }

    private static func manyFields() async throws -> [JSON] {
        let scene = try await synced()
        try scene.kitchen.write([
            many("3", 1000, "f", at: 1_000, kitchen), many("4", 1000, "f", at: 1_000, kitchen),
        ])
        // In one write, this machine would refuse the record.
        for part in long("5", ["name", "notes"], RecordState.maximumSize + 1, at: 1_001, kitchen) {
            try scene.kitchen.write([part])
        }
        try scene.attic.write([
            many("3", 24, "g", at: 1_002, attic), many("4", 24, "g", at: 1_002, attic),
        ])
        try scene.attic.write([year("3", 1995, at: 1_002, attic)])
        return [
            try await scene.session(
                "refusal of records that are too large",
                "The two have made records of the same names while they were apart. Game 3 would come to 1025 fields, so "
                    + "each side refuses what the other has of it. Game 4 comes to 1024, and is kept. Game 5 has a size of "
                    + "8 MiB and one byte: the kitchen does not send it, and counts it in its digests. Then the attic "
                    + "changes game 3, so its refusal ends, and the record is sent and refused again.",
                RecordedWish(),
                [SessionStep(isAtCaller: false, writes: [year("3", 1996, at: 2_000, attic)])]),
            try await scene.session(
                "after a refusal of records that are too large",
                "Nothing of it is sent again, because nothing has changed. Then the kitchen makes game 5 smaller, and the "
                    + "attic deletes game 3: a deletion travels without fields, and is kept. Nothing is refused any more.",
                RecordedWish(),
                [
                    SessionStep(
                        isAtCaller: true,
                        writes: [texts("5", [("name", 3), ("notes", 3)], at: 3_000, kitchen)]),
                    SessionStep(isAtCaller: false, writes: [deletion("3", at: 4_000, attic)]),
                ]),
        ]
    }

    /// A record with more fields than any table here has.
    private static func many(
        _ suffix: String, _ count: Int, _ prefix: String, at milliseconds: Int64, _ replica: ReplicaID
    ) -> RecordState {
        let stamp = Samples.stamp(milliseconds, replica)
        let fields = (1...count).map { number in
            let digits = "\(number)"
            return (
                prefix + String(repeating: "0", count: 4 - digits.count) + digits, FieldValue.integer(1),
                stamp
            )
        }
        return Samples.state("SBGame|~|\(suffix)", fields)
    }

    /// Two parts of a record with two texts. Together they have the given size.
    private static func long(
        _ suffix: String, _ fields: [String], _ size: Int, at milliseconds: Int64, _ replica: ReplicaID
    ) -> [RecordState] {
        let second = size / 2
        let first =
            size - texts(suffix, [(fields[0], 0), (fields[1], second)], at: milliseconds, replica).size
        return [(fields[0], first), (fields[1], second)].map {
            texts(suffix, [$0], at: milliseconds, replica)
        }
    }

    /// A record with texts of these lengths.
    private static func texts(
        _ suffix: String, _ lengths: [(String, Int)], at milliseconds: Int64, _ replica: ReplicaID
    ) -> RecordState {
        Samples.state(
            "SBGame|~|\(suffix)",
            lengths.map { field, length in
                (
                    field, .text(String(decoding: [UInt8](repeating: 0x78, count: length), as: UTF8.self)),
                    Samples.stamp(milliseconds, replica)
                )
            })
    }
}
