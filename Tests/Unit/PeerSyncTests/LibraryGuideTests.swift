import Foundation
import GRDB
import PeerSync
import TestSupport
import Testing

/// What the guide for apps shows is what compiles; and what it promises is tried.
struct LibraryGuideTests {
    private static let catalogue = Repository.root.appendingPathComponent("Sources/PeerSync/PeerSync.docc")

    private static func lines(_ url: URL) throws -> [String] {
        try String(contentsOf: url, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The samples of an article.
    private static func samples(_ article: URL) throws -> [String] {
        var samples: [String] = []
        var rest = try lines(article)[...]
        while let begin = rest.firstIndex(of: "```swift") {
            let sample = rest[(begin + 1)...].prefix { $0 != "```" }
            samples.append(sample.joined(separator: "\n"))
            rest = rest[sample.endIndex...]
        }
        return samples
    }

    /// The functions that compile, without what is not shown. The first one is a whole program, with its imports.
    private static func compiled() throws -> [String] {
        let source = try lines(
            Repository.root.appendingPathComponent("Tests/Unit/PeerSyncTests/LibraryGuide.swift"))
        let imports = source.prefix { $0.hasPrefix("import ") } + [""]
        let begins = source.indices.filter { source[$0].contains("func ") && source[$0].hasSuffix("{") }
        return begins.map { begin in
            let body = source[(begin + 1)...].prefix { $0 != "}" && $0 != "    // Not shown." }
                .map { $0.isEmpty ? "" : String($0.dropFirst(4)) }
            return (begin == begins.first ? imports + body : Array(body)).joined(separator: "\n")
        }
    }

    @Test func allSamplesOfTheCatalogueCompile() throws {
        let articles = try FileManager.default.contentsOfDirectory(
            at: Self.catalogue, includingPropertiesForKeys: nil
        )
        .filter { $0.pathExtension == "md" }
        let shown = try articles.flatMap(Self.samples)
        let compiled = try Self.compiled()
        #expect(shown.count > 8)
        for sample in shown { #expect(compiled.contains(sample), "no function has this sample:\n\(sample)") }
        for sample in compiled { #expect(shown.contains(sample), "no article shows this sample:\n\(sample)") }
        // Samples in another language would be held against nothing.
        for article in articles {
            let fences = try Self.lines(article).filter { $0.hasPrefix("```") && $0 != "```" }
            #expect(Set(fences).isSubset(of: ["```swift", "```sql"]), "\(article.lastPathComponent)")
        }
    }

    /// The last column of a table names tests by their types, or as `Type.function`, and files of this package.
    @Test func theComparisonNamesTestsThatExist() throws {
        let article = Self.catalogue.appendingPathComponent("FromCloudKitOrSQLiteData.md")
        let columns = try Self.lines(article).filter { $0.hasPrefix("| ") && $0.hasSuffix(" |") }
            .compactMap { $0.split(separator: "|").last }
        let names = columns.flatMap { $0.matches(of: /`([^`]+)`/).map { String($0.output.1) } }
        let sources = try Self.testSources()
        #expect(names.count > 20)
        for name in names where !name.contains("/") {
            let parts = name.split(separator: ".").map(String.init)
            let source = sources[parts[0]]
            #expect(source != nil, "there are no tests \(parts[0])")
            guard parts.count > 1 else { continue }
            #expect(source?.contains("func \(parts[1])(") == true, "there is no test \(name)")
        }
        for name in names where name.contains("/") {
            let path = Repository.root.appendingPathComponent(name).path
            #expect(FileManager.default.fileExists(atPath: path), "there is no file \(name)")
        }
    }

    /// The sources of tests by the names of their files without the extension.
    private static func testSources() throws -> [String: String] {
        let folder = Repository.root.appendingPathComponent("Tests").path
        let paths = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        let files = paths.filter { $0.hasSuffix("Tests.swift") }.map {
            URL(fileURLWithPath: "\(folder)/\($0)")
        }
        return try Dictionary(
            files.map {
                ($0.deletingPathExtension().lastPathComponent, try String(contentsOf: $0, encoding: .utf8))
            },
            uniquingKeysWith: +)
    }

    @Test func theReadmeShowsTheFirstSample() throws {
        let shown = try Self.samples(Repository.root.appendingPathComponent("README.md"))
        let program = try Set(Self.compiled().first.map { $0.split(separator: "\n").map(String.init) } ?? [])
        let lines = try #require(shown.first).split(separator: "\n").map(String.init)
        #expect(shown.count == 1 && lines.count > 3 && lines.allSatisfy(program.contains))
    }

    private static let books = """
        CREATE TABLE Author (id TEXT NOT NULL PRIMARY KEY, name TEXT);
        CREATE TABLE Book (
            id TEXT NOT NULL PRIMARY KEY, title TEXT,
            author TEXT NOT NULL REFERENCES Author (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);
        INSERT INTO Author VALUES ('a', 'Jane Austen'); INSERT INTO Book VALUES ('b', 'Emma', 'a')
        """

    @Test(.timeLimit(.minutes(5))) func theSampleForTestsRuns() async throws {
        let (first, second) = (try DatabaseQueue(), try DatabaseQueue())
        for database in [first, second] {
            try await database.write { try $0.execute(sql: Self.books) }
        }
        try await second.write { try $0.execute(sql: "DELETE FROM Book; DELETE FROM Author") }
        try await syncInMemory(first, second)
        #expect(try await second.read { try String.fetchAll($0, sql: "SELECT title FROM Book") } == ["Emma"])
    }

    @Test func theMigrationsOfTheSamplesRun() async throws {
        let todo = try DatabaseQueue()
        try await todo.write {
            try $0.execute(
                sql: """
                    CREATE TABLE TodoList (id INTEGER PRIMARY KEY, title TEXT);
                    CREATE TABLE Item (id INTEGER PRIMARY KEY, list INTEGER REFERENCES TodoList ON DELETE CASCADE);
                    CREATE TABLE Tag (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
                    INSERT INTO Tag (name) VALUES ('work')
                    """)
        }
        try await migrateKeys(todo)
        #expect(try await todo.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM Tag") } == 1)

        let books = try DatabaseQueue()
        try await books.write { try $0.execute(sql: Self.books + "; ALTER TABLE Book ADD COLUMN shelf TEXT") }
        _ = try SyncEngine(for: books, app: "org.example.books", tables: ["Author", "Book"])
        try dropColumn().migrate(books)
        _ = try SyncEngine(for: books, app: "org.example.books", tables: ["Author", "Book"])
        #expect(
            try await books.read { try $0.columns(in: "Book").map(\.name) } == [
                "id", "title", "author", "pages",
            ])
    }

    @Test func theSampleBringsADeletedRowBack() async throws {
        let database = try DatabaseQueue()
        try await database.write { try $0.execute(sql: Self.books) }
        let sync = try SyncEngine(for: database, app: "org.example.books", tables: ["Author", "Book"])
        try await database.write { try $0.execute(sql: "DELETE FROM Book") }
        try await restoreLast(database, sync)
        #expect(
            try await database.read { try String.fetchAll($0, sql: "SELECT title FROM Book") } == ["Emma"])
    }

    @Test func theSampleForFilesRuns() async throws {
        try await withTemporaryDirectory { folder in
            let database = try DatabaseQueue()
            try await database.write {
                try $0.execute(sql: "CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, photo TEXT)")
            }
            let files = AssetDirectory(at: folder.appendingPathComponent("files"))
            let sync = try SyncEngine(
                for: database, app: "org.example.todo", tables: [SyncedTable("Item", files: ["photo"])],
                assetDirectory: files)
            let source = folder.appendingPathComponent("photo.txt")
            try Data("a photo".utf8).write(to: source)
            try await keep(source, files, sync, database)
            try await sync.store.foldPendingChanges()
            let photo = try await database.read { try Asset.fetchOne($0, sql: "SELECT photo FROM Item") }
            let file = try #require(photo.flatMap(sync.store.assets.file))
            #expect(try Data(contentsOf: file) == Data("a photo".utf8))
        }
    }

    /// The sample renames the tag here, while another machine gives an item the old one.
    @Test(.timeLimit(.minutes(5))) func theSampleThatRenamesATagLosesNothing() async throws {
        func engine(_ name: String, _ time: Int64) throws -> (SyncEngine, DatabaseQueue) {
            let database = try DatabaseQueue()
            try database.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, title TEXT);
                        CREATE TABLE Tag (id BLOB NOT NULL PRIMARY KEY, name TEXT NOT NULL);
                        CREATE TABLE ItemTag (
                            item TEXT NOT NULL REFERENCES Item (id) ON DELETE CASCADE,
                            tag BLOB NOT NULL REFERENCES Tag (id) ON DELETE CASCADE, PRIMARY KEY (item, tag))
                        """)
            }
            // Each look at the clock is later: what one statement takes along has one time.
            let clock = SetClock(time)
            let engine = try SyncEngine(
                for: database, app: "org.example.todo", tables: ["Item", "Tag", "ItemTag"], displayName: name,
                discovery: .off,
                now: {
                    clock.milliseconds += 1
                    return clock.milliseconds
                })
            return (engine, database)
        }
        let (here, first) = try engine("here", 1_800_000_000_000)
        let (there, second) = try engine("there", 1_800_000_005_000)
        let (work, office) = (UUID(derivedFrom: "work"), UUID(derivedFrom: "office"))
        try await first.write { db in
            try db.execute(
                sql: """
                    INSERT INTO Item VALUES ('a', 'Write'), ('b', 'Call'); INSERT INTO Tag VALUES (?, 'work');
                    INSERT INTO ItemTag VALUES ('a', ?)
                    """, arguments: [work, work])
        }
        try await SyncConnector(there, to: here, code: try await here.pairing.show()).syncOnce()
        try await renameTag(first)
        #expect(
            try await first.read { try UUID.fetchAll($0, sql: "SELECT tag FROM ItemTag") } == [office])
        try await second.write {
            try $0.execute(sql: "INSERT INTO ItemTag VALUES ('b', ?)", arguments: [work])
        }
        try await SyncConnector(there, to: here).syncOnce()
        for database in [first, second] {
            let tags = try await database.read { db in
                try String.fetchAll(
                    db,
                    sql: "SELECT item || ' ' || name FROM ItemTag JOIN Tag ON id = tag ORDER BY item, name")
            }
            #expect(tags == ["a office", "b work"])
        }
    }

    /// A machine with an older version of the app makes rows without a value for a column that it does not know.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            ("pages INTEGER", [nil], 0), ("pages INTEGER NOT NULL DEFAULT 7", [7], 0),
            ("pages INTEGER NOT NULL", [], 1),
        ] as [(String, [Int?], Int)])
    func aRowOfAnOlderVersionTakesTheDefaultOfANewColumn(column: String, pages: [Int?], held: Int)
        async throws
    {
        func engine(_ name: String, _ column: String) throws -> (SyncEngine, DatabaseQueue) {
            let database = try DatabaseQueue()
            try database.write { db in
                try db.execute(sql: "CREATE TABLE Book (id TEXT NOT NULL PRIMARY KEY, title TEXT\(column))")
            }
            return (
                try SyncEngine(
                    for: database, app: "org.example.books", tables: ["Book"], displayName: name,
                    discovery: .off),
                database
            )
        }
        let (newer, first) = try engine("newer", ", " + column)
        let (older, second) = try engine("older", "")
        try await second.write { try $0.execute(sql: "INSERT INTO Book VALUES ('b', 'Emma')") }
        try await SyncConnector(older, to: newer, code: try await newer.pairing.show()).syncOnce()
        #expect(try await first.read { try Int?.fetchAll($0, sql: "SELECT pages FROM Book") } == pages)
        #expect(try await first.read { try newer.store.status($0).held } == held)
        // Nothing is lost: a newer version that writes the field brings the row.
        try await second.write {
            try $0.execute(sql: "ALTER TABLE Book ADD COLUMN pages INTEGER; UPDATE Book SET pages = 3")
        }
        let updated = try SyncEngine(
            for: second, app: "org.example.books", tables: ["Book"], displayName: "older")
        try await SyncConnector(updated, to: newer, code: try await newer.pairing.show()).syncOnce()
        #expect(try await first.read { try Int?.fetchAll($0, sql: "SELECT pages FROM Book") } == [3])
    }
}
