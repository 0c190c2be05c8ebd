import GRDB
import PeerSync

extension ScorebookStore {
    /// Finds the persons, games and matches in which each of the words begins a word: of names, notes, boards, places,
    /// teams, roles, captions and scores in words. Neither case nor accents count. Persons come first, then games, then
    /// matches, the latest first.
    ///
    /// The index is made for each search, in memory: so no write costs more for it, it is never stale, and nothing that is
    /// deleted for ever stays in it.
    ///
    /// - Throws: ``ScorebookError`` `invalidValue` for a text without a word.
    public func search(_ text: String, limit: Int = 100) async throws -> [SearchHit] {
        let words = text.split { !$0.isLetter && !$0.isNumber }
        guard !words.isEmpty else {
            throw ScorebookError(.invalidValue, "“\(Display.printable(text))” has no word to search for")
        }
        // A letter may have a quotation mark beside it that is one character with it.
        let query = words.map { "\"\(String($0).replacingScalars(["\"": "\"\""]))\"*" }.joined(separator: " ")
        let (limits, time) = (limits(), time)
        try await foldForReading()
        try await settleMergesForReading()
        let found = try await records.database.read { db in try Found(db, limits) }
        return try await Self.hits(found, query, time, limit)
    }

    /// The texts of all records.
    private struct Found: Sendable {
        struct Document: Sendable {
            let recordName: String
            let title: String
            let date: String?
            let text: String
            let zone: String
        }

        let documents: [Document]

        init(_ db: Database, _ limits: String) throws {
            let zones = try ZoneNames(db)
            let rows = try Row.fetchCursor(db, sql: ScorebookStore.documents(limits))
            let merged = [try MergedRecords(db, .person), try MergedRecords(db, .game)]
            var documents: [Document] = []
            while let row = try rows.next() {
                if merged.contains(where: { $0.contains(row[0]) }) { continue }
                documents.append(
                    Document(
                        recordName: row[0], title: row[1], date: row[2],
                        text: String(
                            (row[3] as String).replacing("·  ", with: "· ").drop { " ·".contains($0) }),
                        zone: try zones.name(db, of: row[0])))
            }
            self.documents = documents
        }
    }

    /// Searches in a database of its own.
    private static func hits(
        _ found: Found, _ query: String, _ time: LocalTime, _ limit: Int
    ) async throws -> [SearchHit] {
        try await DatabaseQueue().write { db in
            try db.execute(
                sql: "CREATE VIRTUAL TABLE text USING fts5(body, tokenize = 'unicode61 remove_diacritics 2')")
            let insert = try db.makeStatement(sql: "INSERT INTO text (rowid, body) VALUES (?, ?)")
            for (index, document) in found.documents.enumerated() {
                try insert.execute(arguments: [index, document.text])
            }
            let sql = """
                SELECT rowid, snippet(text, 0, '', '', '…', 10) FROM text WHERE text MATCH ? ORDER BY rowid LIMIT ?
                """
            return try Row.fetchAll(db, sql: sql, arguments: [query, limit]).map { row in
                let document = found.documents[row[0]]
                let name = try RecordName(document.recordName)
                return SearchHit(
                    recordName: name, kind: RecordKind(rawValue: name.recordType)?.noun ?? name.recordType,
                    title: [document.title, document.date.map(time.text)].compactMap(\.self).joined(
                        separator: ", "),
                    excerpt: row[1], zone: document.zone)
            }
        }
    }

    private static func documents(_ limits: String) -> String {
        /// Joins SQL expressions, any of which may be null.
        func joined(_ parts: [String], _ separator: String = " · ") -> String {
            parts.map { "COALESCE('\(separator)' || \($0), '')" }.joined(separator: " || ")
        }
        func list(_ expression: String, _ source: String) -> String {
            "(SELECT group_concat(\(expression), ' · ') FROM \(source))"
        }
        let game = "(SELECT name FROM SBGame WHERE SBGame.recordName = SBMatch.game)"
        let players =
            "SBPlayer JOIN SBPerson ON SBPerson.recordName = SBPlayer.person WHERE match = SBMatch.recordName"
        let match = joined([
            game, "notes", "board", list("name", "SBMatchLocation WHERE match = SBMatch.recordName"),
            list(joined([PersonName.sql, "team", "role"], " "), players),
            list(
                "text",
                "SBScore JOIN SBPlayer ON player = SBPlayer.recordName WHERE match = SBMatch.recordName"),
            list("caption", "SBMatchImage WHERE match = SBMatch.recordName"),
        ])
        return """
            SELECT recordName, \(PersonName.sql) AS title, NULL AS date,
                \(joined([PersonName.sql, "emailAddress", "bggUsername"])) AS body, 1 AS section
            FROM SBPerson WHERE \(limits)
            UNION ALL
            SELECT recordName, COALESCE(name, ''), NULL, \(joined(["name", "year"])), 2 FROM SBGame WHERE \(limits)
            UNION ALL
            SELECT recordName, COALESCE(\(game), ''), date, \(match), 3 FROM SBMatch WHERE \(limits)
            ORDER BY section, date DESC, title, recordName
            """
    }
}
