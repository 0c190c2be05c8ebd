import Foundation
import GRDB

struct TodoList: Codable, FetchableRecord, PersistableRecord {
    /// The key. People choose it.
    var name: String
    var createdAt = Date()

    static let items = hasMany(Item.self)
}

struct Item: Codable, FetchableRecord, PersistableRecord {
    var id = UUID()
    var listName: String
    var title: String
    var isDone = false
    var createdAt = Date()

    static let itemTags = hasMany(ItemTag.self)
    static let tags = hasMany(Tag.self, through: itemTags, using: ItemTag.tag)
}

struct Tag: Codable, FetchableRecord, PersistableRecord {
    var id: UUID
    var name: String
}

/// Joins items and tags.
struct ItemTag: TableRecord {
    static let tag = belongsTo(Tag.self)
}

/// An item with its tags, as people see it.
struct ShownItem: Decodable, FetchableRecord {
    let item: Item
    let tags: [Tag]

    var text: String { "\(item.isDone ? "[x]" : "[ ]") \(item.title)" + tags.map { " #\($0.name)" }.joined() }
}
