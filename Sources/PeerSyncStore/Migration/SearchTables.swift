import GRDB

/// The virtual tables of an app that know the rows of a table by a number, as an index for full-text search does.
enum SearchTables {
    /// Refuses to change a column that a virtual table takes for the rowid, which only a number can be.
    static func check(_ db: Database, _ table: String, _ column: String) throws {
        let virtual = try Row.fetchAll(
            db, sql: "SELECT name, sql FROM main.sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'")
        let triggers = try String.fetchAll(
            db,
            sql: "SELECT sql FROM main.sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE",
            arguments: [table]
        ).map { SQLToken.tokens(of: Array($0.utf8)) ?? [] }
        for row in virtual {
            let name: String = row["name"]
            let options = SQLToken.tokens(of: Array((row["sql"] as String).utf8)) ?? []
            let isContent = has(options, "content", table) && has(options, "content_rowid", column)
            let isWritten = triggers.contains { trigger in
                trigger.contains { $0.isName(name) } && reads(trigger, column)
            }
            guard !isContent, !isWritten else {
                throw KeyMigration.error(
                    "the search table \(name) knows the rows of \(table) by \(column), which is no number any more: drop it and its "
                        + "triggers before, and create them anew after, with rowid in place of \(column)")
            }
        }
    }

    /// Whether a virtual table is declared with an option of a value.
    private static func has(_ tokens: [SQLToken], _ option: String, _ value: String) -> Bool {
        zip(tokens.indices, tokens).contains { index, token in
            token.isName(option) && tokens[index...].dropFirst().first?.isSign("=") == true
                && tokens[index...].dropFirst(2).first?.isName(value) == true
        }
    }

    /// Whether a trigger reads a column of its row.
    private static func reads(_ trigger: [SQLToken], _ column: String) -> Bool {
        zip(trigger.indices, trigger).contains { index, token in
            (token.isName("new") || token.isName("old"))
                && trigger[index...].dropFirst().first?.isSign(".") == true
                && trigger[index...].dropFirst(2).first?.isName(column) == true
        }
    }
}
