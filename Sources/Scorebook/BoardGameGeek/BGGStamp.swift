import PeerSync

/// The stamps of what comes from BoardGameGeek.
///
/// Its files do not tell when somebody wrote what. So the values of a record that is new are older than all that anybody writes
/// here: they carry a time of 1 January 2000. A value that a later file has in another way carries the time of that import. In both, the
/// lower bits follow from the values, so that one stamp never stands for two versions of a record.
enum BGGStamp {
    /// The replica in the stamps of BoardGameGeek.
    static let origin = ReplicaID(hashing: "BoardGameGeek".utf8)
    private static let begin = HybridTime(milliseconds: 946_684_800_000)

    /// Returns the stamp of a new record, within 19 hours of the year 2000.
    static func first(_ name: RecordName, _ values: [(field: String, value: FieldValue)]) -> Stamp {
        let version = DerivedName.hash(
            [name.description] + values.flatMap { [$0.field, Self.text($0.value)] }
        ).low
        return Stamp(time: HybridTime(rawValue: begin.rawValue + version & (1 << 42 - 1)), replica: origin)
    }

    /// Returns the stamp of what a later file changes in a record, or of its deletion.
    ///
    /// - Parameters:
    ///   - first: the stamp that the version of the file would have in a new record.
    ///   - known: the record as it is here.
    ///   - now: the time of the import, in milliseconds since 1970.
    static func later(than known: RecordState, _ first: Stamp?, now: Int64) -> Stamp {
        let newest = [known.newestWrite, known.deletion].compactMap(\.self).max()?.time.milliseconds ?? 0
        let time = HybridTime(milliseconds: max(now, newest + 1))
        return Stamp(
            time: HybridTime(rawValue: time.rawValue | UInt64(first?.time.counter ?? 0)), replica: origin)
    }

    private static func text(_ value: FieldValue) -> String {
        switch value {
        case .text(let text): "text \(text)"
        case .integer(let number): "integer \(number)"
        case .real(let number): "real \(UUIDText.hex(number.bitPattern))"
        case .date(let milliseconds): "date \(milliseconds)"
        case .reference(let name): "reference \(name)"
        // A file of BoardGameGeek becomes no other values.
        case .null, .asset, .blob: ""
        }
    }
}
