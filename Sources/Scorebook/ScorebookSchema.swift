import GRDB
import PeerSync

/// The seven record types of a scorebook: their tables, and their description for the sync engine.
///
/// The tables are a contract: other programs read and write them with plain SQL. An INSERT may leave out every column
/// except the record name and the references. Booleans are 0 or 1, or NULL for unknown; dates are ISO 8601 text in
/// UTC.
public enum ScorebookSchema {
    /// The record types in priority order, for the engine.
    public static let schema: RecordSchema = {
        let types = columns.map { type, columns in
            RecordType(type, columns.map { FieldDefinition($0, $1.fieldKind) })
        }
        // The list below is fixed, so a failure here is an error in this file, and every test finds it.
        return try! RecordSchema(types)
    }()

    /// The kind of value in a column, more exact than its SQL type.
    enum ColumnKind: Equatable {
        case text
        case integer
        /// A number, whole or not.
        case number
        case real
        /// 0 or 1.
        case boolean
        /// ISO 8601 text.
        case date
        /// A picture: JSON text that identifies its file.
        case asset
        /// The name of a record of that type. A deletion of that record takes this one along.
        case reference(String)

        /// The SQL type in the column's declaration; nil for a reference.
        var declaredType: String? {
            switch self {
            case .text, .date: "TEXT"
            case .integer, .boolean: "INTEGER"
            case .number: "NUMERIC"
            case .real: "REAL"
            case .asset: "BLOB"
            case .reference: nil
            }
        }

        var fieldKind: FieldDefinition.Kind {
            switch self {
            case .date: .date
            case .reference(let type): .reference(to: type, rule: .cascade, isRequired: true)
            case .asset: .asset
            case .text, .integer, .number, .real, .boolean: .value
            }
        }
    }

    /// The synced columns of each type, in the order of display.
    static let columns: KeyValuePairs<String, KeyValuePairs<String, ColumnKind>> = [
        "SBPerson": [
            "firstName": .text, "lastName": .text, "emailAddress": .text, "bggUsername": .text,
            "avatar": .asset, "mergedInto": .text,
        ],
        "SBGame": [
            "name": .text, "bggID": .integer, "year": .integer, "minPlayers": .integer,
            "maxPlayers": .integer,
            "highestWins": .boolean, "noPoints": .boolean, "cooperative": .boolean, "usesTeams": .boolean,
            "thumbnail": .asset, "mergedInto": .text,
        ],
        "SBMatch": [
            "game": .reference("SBGame"), "date": .date, "durationMinutes": .integer, "rounds": .integer,
            "notes": .text, "board": .text, "rating": .number, "ignored": .boolean, "unfinished": .boolean,
        ],
        "SBPlayer": [
            "match": .reference("SBMatch"), "person": .reference("SBPerson"), "seatOrder": .integer,
            "team": .text, "role": .text, "rank": .integer, "startPlayer": .boolean, "newPlayer": .boolean,
            "winner": .boolean,
        ],
        "SBScore": ["player": .reference("SBPlayer"), "round": .integer, "points": .number, "text": .text],
        "SBMatchLocation": [
            "match": .reference("SBMatch"), "name": .text, "latitude": .real, "longitude": .real,
        ],
        "SBMatchImage": ["match": .reference("SBMatch"), "image": .asset, "caption": .text],
    ]

    /// Returns the kind of a column; nil for one that this version does not know.
    static func columnKind(_ type: String, _ field: String) -> ColumnKind? {
        columnKinds[type]?[field]
    }

    private static let columnKinds = Dictionary(
        uniqueKeysWithValues: columns.map { type, columns in
            (type, Dictionary(uniqueKeysWithValues: columns.map { ($0, $1) }))
        })

    /// Creates the tables, or migrates those of an older version.
    ///
    /// - Throws: ``RecordStoreError`` `newerFormat` when a newer version of the program made them. It changes nothing
    ///   then.
    static func migrate(_ database: any DatabaseWriter) throws {
        try database.read { db in
            try checkFormat(db)
            try checkReferences(db)
        }
        try migrator.migrate(database)
    }

    /// Refuses tables of another program that lack a reference column: SQLite cannot add a NOT NULL column to existing
    /// rows. Only reads.
    private static func checkReferences(_ db: Database) throws {
        for (table, columns) in columns where try db.tableExists(table) {
            let present = Set(try db.columns(in: table).map(\.name))
            let missing = columns.first { $0.value.declaredType == nil && !present.contains($0.key) }?.key
            guard let column = present.contains("recordName") ? missing : "recordName" else { continue }
            throw RecordStoreError(.tableMismatch, "the table \(table) has no column \(column)")
        }
    }

    /// Adds the missing columns to tables that another program has made.
    private static func addMissingColumns(_ db: Database) throws {
        for (table, columns) in columns {
            let present = Set(try db.columns(in: table).map(\.name))
            for (name, kind) in columns where !present.contains(name) {
                guard let type = kind.declaredType else { continue }
                try db.execute(sql: "ALTER TABLE \(table) ADD COLUMN \(name) \(type)")
            }
            guard !present.contains("modificationDate") else { continue }
            try db.execute(sql: "ALTER TABLE \(table) ADD COLUMN modificationDate TEXT")
        }
    }

    /// Refuses tables that a newer version of the program made. Only reads.
    static func checkFormat(_ db: Database) throws {
        guard try !migrator.hasBeenSuperseded(db) else {
            throw RecordStoreError(
                .newerFormat,
                "this scorebook was written by a newer version of the program; "
                    + "install that version to open it"
            )
        }
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("scorebook 1") { db in
            // Another program may have made the tables before.
            try db.execute(sql: createVersion1)
            try addMissingColumns(db)
        }
        // `mergedInto` of persons and games: the name of the record with which this one became one.
        migrator.registerMigration("scorebook 2") { db in try addMissingColumns(db) }
        // `unfinished` of matches: whether they go on later.
        migrator.registerMigration("scorebook 3") { db in try addMissingColumns(db) }
        // Lists begin with the latest matches. Without the dates in order, each list would look at all matches.
        migrator.registerMigration("scorebook 4", foreignKeyChecks: .immediate) { db in
            try db.execute(sql: indexDates)
        }
        return migrator
    }

    /// Shows what sync knows of each record to other programs, under the name `remoteRecord`.
    static func showRecords(_ database: any DatabaseWriter) throws {
        // A store that is up to date can be opened on a full disk.
        guard try !database.read({ try $0.viewExists("remoteRecord") }) else { return }
        try database.write { db in
            try db.execute(
                sql: "CREATE VIEW IF NOT EXISTS remoteRecord AS SELECT * FROM grdb_sync_remoteRecord")
        }
    }

    private static let indexDates = """
        CREATE INDEX IF NOT EXISTS SBMatch_date ON SBMatch (date);
        DROP INDEX IF EXISTS SBMatch_game;
        CREATE INDEX SBMatch_game ON SBMatch (game, date);
        """

    static let createVersion1 = """
        CREATE TABLE IF NOT EXISTS SBPerson (
            recordName TEXT NOT NULL PRIMARY KEY CHECK (
                recordName GLOB 'SBPerson|~|?*' AND length(recordName) <= 255
                AND recordName NOT GLOB '*[^ -~]*'
                AND length(recordName) = length(CAST(recordName AS BLOB))),
            firstName TEXT,
            lastName TEXT,
            emailAddress TEXT,
            bggUsername TEXT,
            avatar BLOB,
            modificationDate TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
        );

        CREATE TABLE IF NOT EXISTS SBGame (
            recordName TEXT NOT NULL PRIMARY KEY CHECK (
                recordName GLOB 'SBGame|~|?*' AND length(recordName) <= 255
                AND recordName NOT GLOB '*[^ -~]*'
                AND length(recordName) = length(CAST(recordName AS BLOB))),
            name TEXT,
            bggID INTEGER,
            year INTEGER,
            minPlayers INTEGER,
            maxPlayers INTEGER,
            highestWins INTEGER,
            noPoints INTEGER,
            cooperative INTEGER,
            usesTeams INTEGER,
            thumbnail BLOB,
            modificationDate TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
        );

        CREATE TABLE IF NOT EXISTS SBMatch (
            recordName TEXT NOT NULL PRIMARY KEY CHECK (
                recordName GLOB 'SBMatch|~|?*' AND length(recordName) <= 255
                AND recordName NOT GLOB '*[^ -~]*'
                AND length(recordName) = length(CAST(recordName AS BLOB))),
            game TEXT NOT NULL REFERENCES SBGame (recordName)
                ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
            date TEXT,
            durationMinutes INTEGER,
            rounds INTEGER,
            notes TEXT,
            board TEXT,
            rating NUMERIC,
            ignored INTEGER,
            modificationDate TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
        );
        CREATE INDEX IF NOT EXISTS SBMatch_game ON SBMatch (game);

        CREATE TABLE IF NOT EXISTS SBPlayer (
            recordName TEXT NOT NULL PRIMARY KEY CHECK (
                recordName GLOB 'SBPlayer|~|?*' AND length(recordName) <= 255
                AND recordName NOT GLOB '*[^ -~]*'
                AND length(recordName) = length(CAST(recordName AS BLOB))),
            match TEXT NOT NULL REFERENCES SBMatch (recordName)
                ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
            person TEXT NOT NULL REFERENCES SBPerson (recordName)
                ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
            seatOrder INTEGER,
            team TEXT,
            role TEXT,
            rank INTEGER,
            startPlayer INTEGER,
            newPlayer INTEGER,
            winner INTEGER,
            modificationDate TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
        );
        CREATE INDEX IF NOT EXISTS SBPlayer_match ON SBPlayer (match);
        CREATE INDEX IF NOT EXISTS SBPlayer_person ON SBPlayer (person);

        -- points: a number. text: the score as written, when it is not a plain number.
        CREATE TABLE IF NOT EXISTS SBScore (
            recordName TEXT NOT NULL PRIMARY KEY CHECK (
                recordName GLOB 'SBScore|~|?*' AND length(recordName) <= 255
                AND recordName NOT GLOB '*[^ -~]*'
                AND length(recordName) = length(CAST(recordName AS BLOB))),
            player TEXT NOT NULL REFERENCES SBPlayer (recordName)
                ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
            round INTEGER,
            points NUMERIC,
            text TEXT,
            modificationDate TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
        );
        CREATE INDEX IF NOT EXISTS SBScore_player ON SBScore (player);

        CREATE TABLE IF NOT EXISTS SBMatchLocation (
            recordName TEXT NOT NULL PRIMARY KEY CHECK (
                recordName GLOB 'SBMatchLocation|~|?*' AND length(recordName) <= 255
                AND recordName NOT GLOB '*[^ -~]*'
                AND length(recordName) = length(CAST(recordName AS BLOB))),
            match TEXT NOT NULL REFERENCES SBMatch (recordName)
                ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
            name TEXT,
            latitude REAL,
            longitude REAL,
            modificationDate TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
        );
        CREATE INDEX IF NOT EXISTS SBMatchLocation_match ON SBMatchLocation (match);

        CREATE TABLE IF NOT EXISTS SBMatchImage (
            recordName TEXT NOT NULL PRIMARY KEY CHECK (
                recordName GLOB 'SBMatchImage|~|?*' AND length(recordName) <= 255
                AND recordName NOT GLOB '*[^ -~]*'
                AND length(recordName) = length(CAST(recordName AS BLOB))),
            match TEXT NOT NULL REFERENCES SBMatch (recordName)
                ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
            image BLOB,
            caption TEXT,
            modificationDate TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
        );
        CREATE INDEX IF NOT EXISTS SBMatchImage_match ON SBMatchImage (match);
        """
}

extension AppID {
    /// Every program that syncs scorebooks has this one.
    public static let scorebook: AppID = "scorebook"
}
