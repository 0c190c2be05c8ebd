import CSodium
import PeerSync

/// Names of records for which a file of another program has no UUIDs, as the players, scores and locations of the plays of BG Stats.
///
/// The name follows from the record's type, parent and content. So importing a file twice, or on two machines, makes
/// one record and not two. The UUID is of version 8 (RFC 9562), from the first 128 bits of BLAKE2b-128 over these
/// texts, each in UTF-8 and followed by one zero byte:
///
/// 1. the source: `scorebook-peer BG Stats 1` or `scorebook-peer BoardGameGeek 1`
/// 2. the record type
/// 3. the record name of its parent; the functions below say what stands here for a record without one
/// 4. for a player: the person's UUID; then, when that person takes part in the play more than once, `1` for the second
///    time, `2` for the third
///
/// A match has one location, and a player one score, so those have no fourth text.
struct DerivedName {
    static let bgStats = DerivedName(source: "scorebook-peer BG Stats 1")
    static let boardGameGeek = DerivedName(source: "scorebook-peer BoardGameGeek 1")

    private let source: String

    func player(match: RecordName, personUUID: String, ordinal: Int) -> RecordName {
        make(.player, [match.description, personUUID] + Self.ordinal(ordinal))
    }

    func score(player: RecordName) -> RecordName { make(.score, [player.description]) }

    func location(match: RecordName) -> RecordName { make(.matchLocation, [match.description]) }

    /// - Parameter id: the third text: the number of a game.
    func game(id: Int) -> RecordName { make(.game, ["\(id)"]) }

    /// - Parameter id: the third text: the number of a play. One that was logged with a quantity is several matches; as for
    ///   players, the second one has `1` as a fourth text.
    func match(id: Int, ordinal: Int) -> RecordName { make(.match, ["\(id)"] + Self.ordinal(ordinal)) }

    /// - Parameters:
    ///   - key: the third text: `username` or `name`, for what identifies a person.
    ///   - text: the fourth text, in lower case.
    func person(_ key: String, _ text: String) -> RecordName { make(.person, [key, text]) }

    private static func ordinal(_ number: Int) -> [String] { number == 0 ? [] : ["\(number)"] }

    private func make(_ kind: RecordKind, _ rest: [String]) -> RecordName {
        let (high, low) = Self.hash([source, kind.recordType] + rest)
        return RecordName.named(
            kind,
            UUIDText.text(
                high: high & ~0xF000 | 0x8000, low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000))
    }

    /// Hashes texts, each in UTF-8 and followed by one zero byte.
    static func hash(_ texts: [String]) -> (high: UInt64, low: UInt64) {
        let input = texts.flatMap { text -> [UInt8] in Array(text.utf8) + [0] }
        var hash = [UInt8](repeating: 0, count: 16)
        let status = crypto_generichash(&hash, hash.count, input, UInt64(input.count), nil, 0)
        precondition(status == 0, "libsodium makes hashes of 16 bytes")
        return (
            hash[..<8].reduce(0) { $0 << 8 | UInt64($1) }, hash[8...].reduce(0) { $0 << 8 | UInt64($1) }
        )
    }
}
