import PeerSyncModel

extension VectorFile {
    /// Ids of records and their sums.
    static var digests: VectorFile {
        let records = Samples.records
        return VectorFile(
            "digests.json",
            "Records with the hash of their values, their id, and the item that reconciliation has of them (none of a "
                + "deleted one); then digests of zones, each with the records before it.",
            section: "7.10, 8",
            [
                ("records", .array((records + [Samples.revived]).map(describe))),
                (
                    "zones",
                    .array(
                        (0...records.count).map { count in
                            let digest = digest(of: Array(records.prefix(count)))
                            return [
                                "records": .array(records.prefix(count).map { .string($0.name.description) }),
                                "recordCount": .decimal(digest.count), "sum": .hex(digest.sumBytes),
                                "fingerprint": .hex(digest.fingerprint),
                            ]
                        })
                ),
                ("sums", .array(sums)),
            ])
    }

    private static func describe(_ state: RecordState) -> JSON {
        var members: [(String, JSON)] = [("state", .state(state))]
        if state.isLive {
            members.append(("valueHash", .hex(RecordID.valueHash(of: state.fields))))
            members.append(("id", .hex(RecordID(state).bytes)))
        }
        members.append(
            (
                "item",
                .optional(item(state)) {
                    ["milliseconds": .decimal($0.timestamp), "id": .hex($0.id.bytes)]
                }
            ))
        return .object(members)
    }

    private static func item(_ state: RecordState) -> NegentropyItem? {
        guard !state.isDeleted else { return nil }
        return NegentropyItem(
            name: state.name, stamps: state.fields.map { ($0.name, $0.stamp) },
            valueHash: RecordID.valueHash(of: state.fields), revival: state.revival)
    }

    /// Sums with carries, which the sums of a few records need not have.
    private static var sums: [JSON] {
        let one = [1] + [UInt8](repeating: 0, count: 31)
        let greatest = [UInt8](repeating: 0xFF, count: 32)
        let word = [UInt8](repeating: 0xFF, count: 8) + [UInt8](repeating: 0, count: 24)
        return [
            [], [greatest], [greatest, one], [greatest, greatest], [word, one], [word, word, greatest],
        ].map { ids in
            var sum = NegentropySum()
            for id in ids {
                if let id = NegentropyID(id) { sum += id }
            }
            return [
                "ids": .array(ids.map { .hex($0) }), "sum": .hex(sum.bytes),
                "fingerprint": .hex(sum.fingerprint(count: UInt64(ids.count))),
            ]
        }
    }

    /// The clock that gives stamps.
    static var clock: VectorFile {
        let wall = Samples.moment
        let steps: [(why: String, last: UInt64, wall: Int64)] = [
            ("the wall clock is ahead", UInt64(wall - 1) << 16, wall),
            ("the wall clock stands still", UInt64(wall) << 16, wall),
            ("the wall clock went back", UInt64(wall + 5000) << 16 | 7, wall),
            ("the counter carries into the milliseconds", UInt64(wall) << 16 | 0xFFFF, wall),
            ("before 1970", 0, -5), ("later than 48 bits", 0, 1 << 48),
            ("the end of the 64 bits", .max, wall), ("the last but one", .max - 1, wall),
        ]
        return VectorFile(
            "clock.json",
            "The time of a new write, of the greatest time that the replica has issued or seen and of its wall clock.",
            section: "6.2",
            [
                (
                    "ticks",
                    .array(
                        steps.map { step in
                            var clock = HybridLogicalClock(last: HybridTime(rawValue: step.last))
                            let time = clock.tick(milliseconds: step.wall)
                            return [
                                "why": .string(step.why), "greatest": .digits(step.last),
                                "wallClock": .decimal(step.wall), "time": .digits(time.rawValue),
                            ]
                        })
                )
            ])
    }
}
