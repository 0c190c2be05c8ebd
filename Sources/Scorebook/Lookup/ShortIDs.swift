import Foundation
import GRDB
import PeerSync

/// Short names of records that people can copy into a command: the last digits of the UUID.
///
/// UUIDs of one day begin alike, and end at random.
public struct ShortIDs: Sendable {
    /// The lengths to choose from, in digits.
    private static let lengths = [6, 8, 10, 12]

    private let length: Int

    /// Finds the smallest length at which all records of a kind end differently.
    ///
    /// - Parameter type: a record type with a table.
    init(_ db: Database, _ type: String) throws {
        guard try db.tableExists(type) else {
            length = Self.lengths[0]
            return
        }
        let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \(type)") ?? 0
        // Among many records some are sure to end alike, and to look whether they do would take the time of a whole table.
        let likely = Self.lengths.filter { Double(count) * Double(count) < pow(16, Double($0)) }
        length =
            try likely.first { length in
                try !Bool.fetchOne(
                    db,
                    sql: """
                        SELECT EXISTS (
                            SELECT 1 FROM \(type) GROUP BY lower(substr(recordName, -\(length))) HAVING COUNT(*) > 1)
                        """)!
            } ?? 36
    }

    /// Returns the id of a record; its quoted name if another program gave it one that a command line would take apart, or
    /// for an option.
    public func id(_ name: RecordName) -> String {
        let (suffix, id) = (name.suffix, name.suffix.suffix(length))
        guard suffix.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }), id.first != "-"
        else { return ShellWord.quoted(name.description) }
        return String(id)
    }
}
