import Foundation
import PeerSyncModel
import PeerSyncProtocol

extension VectorFile {
    /// The wall clock of all machines in sessions.json.
    static let sessionClock = Samples.moment + 60_000

    /// Whole sessions, from the hellos to the goodbyes.
    static func sessions() async throws -> VectorFile {
        VectorFile(
            "sessions.json",
            "Sessions of two machines that are paired, from the hellos to the goodbyes, with what their stores hold "
                + "before and after. The messages are in the order in which they were sent; each was read before the "
                + "next one was dealt with. Both wall clocks stand still at `clock`.",
            section: "7",
            [
                ("clock", .decimal(sessionClock)),
                (
                    "cases",
                    .array(
                        try await [
                            firstCopy(), change(), reconciliation(), void(), resync(), refusal(), tooLarge(),
                            beside(), startOver(), replacement(), refusedReplacement(),
                        ].flatMap { $0 })
                ),
            ])
    }

    // MARK: Records

    static let kitchen = ReplicaID(hashing: VectorKeys.caller.publicKey.bytes)
    static let attic = ReplicaID(hashing: VectorKeys.listener.publicKey.bytes)

    static func game(
        _ suffix: String, _ name: String, at milliseconds: Int64, _ replica: ReplicaID, deletion: Int64? = nil
    ) -> RecordState {
        let stamp = Samples.stamp(milliseconds, replica)
        return Samples.state(
            "SBGame|~|\(suffix)", [("name", .text(name), stamp), ("year", .integer(1995), stamp)],
            deletion: deletion.map { Samples.stamp($0, replica) })
    }

    static func deletion(_ suffix: String, at milliseconds: Int64, _ replica: ReplicaID)
        -> RecordState
    {
        Samples.state("SBGame|~|\(suffix)", deletion: Samples.stamp(milliseconds, replica))
    }

    static func year(
        _ suffix: String, _ year: Int64, at milliseconds: Int64, _ replica: ReplicaID
    ) -> RecordState {
        Samples.state("SBGame|~|\(suffix)", [("year", .integer(year), Samples.stamp(milliseconds, replica))])
    }

    static func person(_ suffix: String, _ name: String, at milliseconds: Int64, _ replica: ReplicaID)
        -> RecordState
    {
        Samples.state(
            "SBPerson|~|\(suffix)", [("firstName", .text(name), Samples.stamp(milliseconds, replica))])
    }

    /// Makes two machines that have synced: the attic's records came to the kitchen.
    ///
    /// - Parameter directory: the directory of the stores; without it the stores are in memory.
    static func synced(in directory: URL? = nil) async throws -> SessionScene {
        let scene = try SessionScene(in: directory)
        try scene.attic.write([
            game("1", "Catan", at: 0, attic), game("2", "Carcassonne", at: 1, attic),
            person("1", "Ada", at: 2, attic),
        ])
        try await scene.session("", "")
        return scene
    }

    // MARK: Cases

    private static func firstCopy() async throws -> [JSON] {
        let scene = try SessionScene()
        try scene.attic.write([game("1", "Catan", at: 0, attic), person("1", "Ada", at: 0, attic)])
        try scene.attic.write([game("2", "Risk", at: 1, attic)])
        try scene.attic.write([deletion("2", at: 2, attic)])
        return [
            try await scene.session(
                "first copy",
                "The kitchen has no records, and nobody shares either zone: both become one, and everything comes, "
                    + "the deletion without its fields. Then each side changes something.",
                RecordedWish(),
                [
                    SessionStep(isAtCaller: false, writes: [year("1", 1996, at: 1_000, attic)]),
                    SessionStep(isAtCaller: true, writes: [game("3", "Go", at: 2_000, kitchen)]),
                ])
        ]
    }

    private static func change() async throws -> [JSON] {
        let scene = try await synced()
        try scene.kitchen.write([year("1", 1996, at: 1_000, kitchen)])
        return [
            try await scene.session(
                "one change",
                "The kitchen has changed a record since the last session. While this one runs, the attic adds a record, "
                    + "and the kitchen deletes one.",
                RecordedWish(),
                [
                    SessionStep(isAtCaller: false, writes: [person("2", "Grace", at: 2_000, attic)]),
                    SessionStep(isAtCaller: true, writes: [deletion("2", at: 3_000, kitchen)]),
                ])
        ]
    }

    private static func reconciliation() async throws -> [JSON] {
        let scene = try SessionScene()
        let same = [game("1", "Catan", at: 0, attic), game("2", "Carcassonne", at: 1, attic)]
        try scene.kitchen.write(same + [game("3", "Risk", at: 2, attic), person("1", "Ada", at: 3, kitchen)])
        try scene.kitchen.write([year("2", 2000, at: 5, kitchen)])
        try scene.attic.write(same + [game("3", "Risk", at: 2, attic), game("4", "Go", at: 4, attic)])
        try scene.attic.write([deletion("3", at: 6, attic)])
        return [
            try await scene.session(
                "reconciliation",
                "Both hold records, and some are the same. The attic has deleted a record that the kitchen has: deletions "
                    + "are in no inventory, so the attic answers when the record comes.")
        ]
    }

    private static func void() async throws -> [JSON] {
        let scene = try SessionScene()
        try await scene.session("", "")
        try scene.attic.makeBackup()
        try scene.attic.write([game("1", "Catan", at: 0, attic), game("2", "Risk", at: 1, attic)])
        try scene.kitchen.write([person("1", "Ada", at: 2, kitchen)])
        try await scene.session("", "")
        try scene.attic.restoreBackup()
        let echo = try await scene.session(
            "void token",
            "The attic's store is a backup of before it had any records. It has not given out the token that the kitchen "
                + "holds, so it says void; and the kitchen sends with echo what came from the attic.")
        try scene.attic.makeBackup()
        try scene.attic.write([game("3", "Go", at: 10, attic)])
        try scene.kitchen.write([year("1", 1997, at: 11, kitchen)])
        try await scene.session("", "")
        try scene.attic.restoreBackup()
        return [
            echo,
            try await scene.session(
                "void token, both hold records", "As before, but the backup has records: the two reconcile."),
        ]
    }

    private static func resync() async throws -> [JSON] {
        let scene = try await synced()
        try scene.attic.lose("SBGame|~|2")
        let different = try await scene.session(
            "resync",
            "A record has gone from the attic's store, and nothing says so but the digest. Both find that at the same "
                + "time, and begin the same round.")
        return [
            different,
            try await scene.session(
                "resync that was asked for",
                "The caller's user wants everything to be compared. It is equal.",
                RecordedWish(comparesEverything: true)),
        ]
    }

    private static func refusal() async throws -> [JSON] {
        let scene = try await synced()
        try scene.attic.grant(.read, to: scene.kitchen)
        try scene.kitchen.write([
            year("1", 1996, at: 1_000, kitchen), person("2", "Grace", at: 1_001, kitchen),
        ])
        let refused = try await scene.session(
            "refusal",
            "The kitchen may only read at the attic. What it has written is refused by name, and the two are in sync but "
                + "for that.")
        try scene.attic.grant(.write, to: scene.kitchen)
        return [
            refused,
            try await scene.session(
                "after a refusal", "The kitchen may write again, and sends what was refused once more."),
            try await otherZone(),
        ]
    }

    private static func otherZone() async throws -> JSON {
        let scene = try SessionScene()
        try scene.attic.write([game("1", "Catan", at: 0, attic), game("2", "Risk", at: 1, attic)])
        try scene.kitchen.write([game("1", "Chess", at: 2, kitchen)])
        return try await scene.session(
            "refusal of records that are in another zone",
            "The caller's user wants the attic's zone beside the kitchen's own. One of its records is in the kitchen's own "
                + "zone already, and refused by name.",
            RecordedWish(union: .beside))
    }

    private static func beside() async throws -> [JSON] {
        let scene = try SessionScene()
        try scene.attic.write([game("1", "Catan", at: 0, attic)])
        try scene.kitchen.write([game("2", "Risk", at: 1, kitchen)])
        let first = try await scene.session(
            "beside",
            "The caller's user wants the attic's zone beside the kitchen's own, which the attic gets nothing of.",
            RecordedWish(union: .beside))
        try scene.kitchen.write([game("3", "Go", at: 2, kitchen)])
        try scene.attic.write([year("1", 1996, at: 3, attic)])
        return [
            first,
            try await scene.session(
                "after beside",
                "The kitchen's hello offers the attic's zone, and no default zone: so there is nothing to bring together."
            ),
        ]
    }

    private static func startOver() async throws -> [JSON] {
        let scene = try await synced()
        try scene.kitchen.makeBackup()
        try scene.attic.write([deletion("2", at: 1_000, attic)])
        try await scene.session("", "")
        try scene.attic.forgetDeletions()
        try scene.kitchen.restoreBackup()
        try scene.kitchen.write([person("2", "Grace", at: 2_000, kitchen)])
        let expired = try await scene.session(
            "a token that has expired",
            "The kitchen's store is a backup of before a deletion that the attic has forgotten since. The attic says so "
                + "in place of its begin; what the kitchen has sent meanwhile is not read.",
            endsWith: .changeTokenExpired)
        return [
            expired,
            try await scene.session(
                "start over",
                "The kitchen forgets what the attic has, and keeps what it has written since.",
                RecordedWish(startsOver: true)),
        ]
    }
}
