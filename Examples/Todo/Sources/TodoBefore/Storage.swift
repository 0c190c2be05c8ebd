import Foundation
import GRDB

/// The database, and all that the app does with it.
struct Storage {
    let database: DatabasePool

    init(path: String) throws {
        var configuration = Configuration()
        // Several commands may write at once.
        configuration.busyMode = .timeout(5)
        do {
            database = try DatabasePool(path: path, configuration: configuration)
            try Self.migrator.migrate(database)
        } catch let error as DatabaseError {
            throw TodoError("\(path) cannot be opened: \(error.message ?? "\(error)")")
        }
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("lists and items") { db in
            try db.create(table: "todoList") { t in
                t.primaryKey("name", .text)
                t.column("createdAt", .datetime).notNull()
            }
            try db.create(table: "item") { t in
                t.autoIncrementedPrimaryKey("id")
                t.belongsTo("list", inTable: "todoList", onDelete: .cascade).notNull()
                t.column("title", .text).notNull()
                t.column("isDone", .boolean).notNull().defaults(to: false)
            }
        }
        migrator.registerMigration("tags") { db in
            try db.create(table: "tag") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull().unique()
            }
            try db.create(table: "itemTag") { t in
                t.primaryKey {
                    t.belongsTo("item", onDelete: .cascade)
                    t.belongsTo("tag", onDelete: .cascade)
                }
            }
        }
        migrator.registerMigration("when an item was added") { db in
            try db.alter(table: "item") { t in
                t.add(column: "createdAt", .datetime).notNull().defaults(to: "2024-01-01 00:00:00.000")
            }
        }
        return migrator
    }

    // MARK: Reading

    /// The items of a list, the oldest first. People name an item by its number in this order.
    static func items(_ db: Database, of list: String) throws -> [ShownItem] {
        guard try TodoList.exists(db, key: list) else { throw TodoError("there is no list “\(list)”") }
        return try Item.filter(Column("listName") == list).order(Column("createdAt"), Column("id"))
            .including(all: Item.tags.order(Column("name"))).asRequest(of: ShownItem.self).fetchAll(db)
    }

    /// All lists with their items, as text.
    static func text(_ db: Database) throws -> String {
        try TodoList.order(Column("name")).fetchAll(db).map { list in
            let lines = try items(db, of: list.name).enumerated().map { "\n  \($0 + 1) \($1.text)" }
            return list.name + lines.joined()
        }.joined(separator: "\n")
    }

    private static func item(_ db: Database, _ number: Int, of list: String) throws -> Item {
        let items = try items(db, of: list)
        guard items.indices.contains(number - 1) else {
            throw TodoError("the list “\(list)” has no item \(number)")
        }
        return items[number - 1].item
    }

    private static func tag(_ db: Database, _ name: String) throws -> Tag? {
        try Tag.filter(Column("name") == name).fetchOne(db)
    }

    // MARK: Writing

    func addList(_ name: String) throws {
        try database.write { db in
            guard try !TodoList.exists(db, key: name) else {
                throw TodoError("there is a list “\(name)” already")
            }
            try TodoList(name: name).insert(db)
        }
    }

    func add(_ title: String, to list: String) throws {
        try database.write { db in
            guard try TodoList.exists(db, key: list) else { throw TodoError("there is no list “\(list)”") }
            try Item(listName: list, title: title).insert(db)
        }
    }

    func markDone(_ number: Int, of list: String) throws {
        try database.write { db in
            var item = try Self.item(db, number, of: list)
            try item.updateChanges(db) { $0.isDone = true }
        }
    }

    func tag(_ number: Int, of list: String, with name: String) throws {
        try database.write { db in
            let item = try Self.item(db, number, of: list)
            try Tag(name: name).insert(db, onConflict: .ignore)
            let tag = try Self.tag(db, name)
            try db.execute(
                sql: "INSERT OR IGNORE INTO itemTag (itemId, tagId) VALUES (?, ?)",
                arguments: [item.id, tag?.id])
        }
    }

    func renameTag(_ name: String, to newName: String) throws {
        try database.write { db in
            guard let tag = try Self.tag(db, name) else { throw TodoError("there is no tag “\(name)”") }
            guard try Self.tag(db, newName) == nil else {
                throw TodoError("there is a tag “\(newName)” already")
            }
            try db.execute(sql: "UPDATE tag SET name = ? WHERE id = ?", arguments: [newName, tag.id])
        }
    }
}

/// An error of the app: one sentence for people.
struct TodoError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
