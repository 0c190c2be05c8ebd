import Foundation
import Testing

/// Zones beside the one that every store has.
extension Machine {
    func zone(_ name: String) async throws -> ZoneLine {
        try #require(try await status().zones.first { $0.name == name }, "the zone \(name) of \(self.name)")
    }

    /// Makes the zone “club” with the game Hearts, and a match of it that Ada played.
    ///
    /// - Returns: the match.
    @discardableResult
    func makeClub() async throws -> String {
        try await peer("zone", "create", "club")
        try await peer("game", "add", "Hearts", "--zone", "club")
        return try await addMatch("Hearts", "Ada=1")
    }

    /// In which zone each record is, by its name here.
    func zonesOfRecords() throws -> [String] {
        try rows(
            """
            SELECT remoteRecordID, grdb_sync_recordZone.name FROM grdb_sync_remoteRecord
            JOIN grdb_sync_recordZone ON grdb_sync_recordZone.id = grdb_sync_remoteRecord.zone ORDER BY remoteRecordID
            """)
    }

    /// The tables of the database, the engine's own ones included, that hold a text anywhere.
    func tables(with text: String) throws -> [String] {
        try rows("SELECT name FROM sqlite_schema WHERE type = 'table'").filter { table in
            try rows("SELECT name FROM pragma_table_info('\(table)')").contains { column in
                try rows(
                    """
                    SELECT EXISTS (
                        SELECT 1 FROM "\(table)" WHERE instr(CAST("\(column)" AS BLOB), CAST(? AS BLOB)) > 0)
                    """, [text]) == ["1"]
            }
        }
    }
}

/// Whether two machines hold the same in a zone, by what they say themselves.
func haveEqualZones(_ name: String, _ machines: Machine...) async throws -> Bool {
    var digests: Set<String> = []
    for machine in machines { digests.insert(try await machine.zone(name).digest) }
    return digests.count == 1
}
