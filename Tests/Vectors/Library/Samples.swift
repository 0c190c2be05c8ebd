import PeerSyncModel
import PeerSyncProtocol

/// The machines, records and tokens of the vectors.
package enum Samples {
    package static let kitchen = ReplicaID(rawValue: 0x0123_4567_89AB_CDEF)
    static let attic = ReplicaID(rawValue: 0xFEDC_BA98_7654_3210)

    /// 2023-11-14T22:13:20Z.
    static let moment: Int64 = 1_700_000_000_000

    /// A stamp some milliseconds after ``moment``.
    package static func stamp(_ milliseconds: Int64, counter: UInt16 = 0, _ replica: ReplicaID = kitchen)
        -> Stamp
    {
        let time = HybridTime(milliseconds: moment + milliseconds).rawValue | UInt64(counter)
        return Stamp(time: HybridTime(rawValue: time), replica: replica)
    }

    static func name(_ text: String) -> RecordName {
        guard let name = try? RecordName(text) else { preconditionFailure("\(text) is no record name") }
        return name
    }

    static func zone(_ name: String, _ owner: ReplicaID = kitchen) -> ZoneID {
        guard let name = ZoneName(name) else { preconditionFailure("\(name) is no zone name") }
        return ZoneID(name: name, owner: owner)
    }

    package static func state(
        _ text: String, _ fields: [(String, FieldValue, Stamp)] = [], deletion: Stamp? = nil,
        revival: Stamp? = nil, erasure: Stamp? = nil
    ) -> RecordState {
        RecordState(
            name: name(text), fields: fields.map { RecordField(name: $0.0, value: $0.1, stamp: $0.2) },
            deletion: deletion, revival: revival, erasure: erasure)
    }

    static func hash(_ byte: UInt8) -> AssetHash {
        guard let hash = AssetHash([UInt8](repeating: byte, count: AssetHash.length)) else {
            preconditionFailure("a hash has \(AssetHash.length) bytes")
        }
        return hash
    }

    static func asset(
        _ byte: UInt8 = 0x3F, size: Int64 = 482_113, mediaType: String = "image/jpeg",
        name: String = "catan.jpg"
    ) -> Asset {
        guard let asset = Asset(hash: hash(byte), size: size, mediaType: mediaType, name: name) else {
            preconditionFailure("an asset that is none")
        }
        return asset
    }

    package static let token = ChangeToken(
        generation: [0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8], sequence: 70)

    // MARK: Records

    static let game = state(
        "SBGame|~|0192f0c1-7a51-7cc2-9a5e-6d1b7a52e1b4",
        [
            ("name", .text("Catan"), stamp(0)), ("noPoints", .integer(0), stamp(0)),
            ("thumbnail", .null, stamp(0)), ("year", .integer(1995), stamp(1000, counter: 1)),
        ])

    static let deletedGame = state("SBGame|~|old", deletion: stamp(2000))

    static let match = state(
        "SBMatch|~|0192F0C1-7A51-7CC2-9A5E-6D1B7A52E1B5",
        [
            ("date", .date(1_448_445_600_000), stamp(3000, attic)),
            ("game", .reference(game.name), stamp(3000, attic)),
            ("notes", .text("Élan — 42 \u{1F3B2}"), stamp(3500)),
            ("rating", .real(7.5), stamp(3000, attic)),
        ], revival: stamp(4000, attic))

    static let picture = state(
        "SBMatchImage|~|p1",
        [
            ("caption", .blob([0, 1, 0xFF]), stamp(5000)), ("image", .asset(asset()), stamp(5000)),
            ("match", .reference(match.name), stamp(5000)),
        ])

    /// Deleted after all its fields, and revived by another record: it lives, but the fields are elsewhere.
    static let hollow = state("SBPerson|~|ada", deletion: stamp(1000), revival: stamp(2000))

    /// Restored after its last write. Its id shows that when two machines reconcile.
    static let revived = state(
        "SBPerson|~|dora", [("name", .text("Dora"), stamp(3000))], deletion: stamp(4000), revival: stamp(6000)
    )

    /// Erased: deleted for ever.
    static let erased = state(
        "SBPerson|~|bob", deletion: stamp(2000), revival: stamp(1500), erasure: stamp(2000))

    /// Erased, written anew, and deleted again by another machine that did not know the second field's write.
    static let writtenAnew = state(
        "SBPerson|~|carl", [("age", .integer(7), stamp(9000)), ("name", .text("Carl"), stamp(3000))],
        deletion: stamp(5000, attic), erasure: stamp(2000))

    /// The example of protocol.md 6.6.
    static let batch = Message.batch(
        zone: 0, ChangeBatch(records: [game, deletedGame], token: token, isLast: true))

    static let records = [game, deletedGame, match, picture, hollow]
}

extension Samples {
    private static func stamp(_ milliseconds: Int64, _ replica: ReplicaID) -> Stamp {
        stamp(milliseconds, counter: 0, replica)
    }
}
