import CSodium
import PeerSync

/// Names of records for which a BG Stats export has no UUIDs: the players, scores and locations of its plays.
///
/// The name follows from the record's type, parent and person. So importing a file twice, or on two machines, makes
/// one record and not two. The UUID is of version 8 (RFC 9562), from the first 128 bits of BLAKE2b-128 over these
/// texts, each in UTF-8 and followed by one zero byte:
///
/// 1. `scorebook-peer BG Stats 1`
/// 2. the record type
/// 3. the record name of its parent
/// 4. for a player: the person's UUID as the file has it; then, when that person takes part in the play more
///    than once, `1` for the second time, `2` for the third
///
/// A match has one location, and a player one score, so those have no fourth text.
enum DerivedName {
    static func player(match: RecordName, personUUID: String, ordinal: Int) -> RecordName {
        make(.player, parent: match, ordinal == 0 ? [personUUID] : [personUUID, "\(ordinal)"])
    }

    static func score(player: RecordName) -> RecordName {
        make(.score, parent: player, [])
    }

    static func location(match: RecordName) -> RecordName {
        make(.matchLocation, parent: match, [])
    }

    private static let namespace = "scorebook-peer BG Stats 1"

    private static func make(_ kind: RecordKind, parent: RecordName, _ rest: [String]) -> RecordName {
        var input: [UInt8] = []
        for text in [namespace, kind.recordType, parent.description] + rest {
            input.append(contentsOf: text.utf8)
            input.append(0)
        }
        var hash = [UInt8](repeating: 0, count: 16)
        let status = crypto_generichash(&hash, hash.count, input, UInt64(input.count), nil, 0)
        precondition(status == 0, "libsodium makes hashes of 16 bytes")
        let high = hash[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let low = hash[8...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return RecordName.named(
            kind,
            UUIDText.text(
                high: high & ~0xF000 | 0x8000, low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000))
    }
}
