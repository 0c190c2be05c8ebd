import GRDB
import PeerSync

/// Short names of records that people can copy into a command: the last digits of the UUID.
///
/// UUIDs of one day begin alike, and end at random.
struct ShortIDs {
    /// The lengths to choose from, in digits.
    private static let lengths = [6, 8, 10, 12]

    private let length: Int

    /// Finds the smallest length at which all records of a kind end differently.
    ///
    /// - Parameter type: a record type with a table.
    init(_ db: Database, _ type: String) throws {
        let isTable = try db.tableExists(type)
        length =
            try !isTable
            ? Self.lengths[0]
            : Self.lengths.first { length in
                try !Bool.fetchOne(
                    db,
                    sql: """
                        SELECT EXISTS (
                            SELECT 1 FROM \(type) GROUP BY lower(substr(recordName, -\(length))) HAVING COUNT(*) > 1)
                        """)!
            } ?? 36
    }

    /// Returns the id of a record; its quoted name if another program gave it one that a command line would take apart.
    func id(_ name: RecordName) -> String {
        let suffix = name.suffix
        guard suffix.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }) else {
            return "'\(name.description.replacing("'", with: "'\\''"))'"
        }
        return String(suffix.suffix(length))
    }
}
