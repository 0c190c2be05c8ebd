import GRDB
import PeerSyncModel

extension Asset: DatabaseValueConvertible {
    /// The text of ``json``.
    public var databaseValue: DatabaseValue { json.databaseValue }

    public static func fromDatabaseValue(_ value: DatabaseValue) -> Asset? {
        String.fromDatabaseValue(value).flatMap(Asset.init(json:))
    }
}

extension Asset: Encodable {
    private enum CodingKeys: String, CodingKey { case hash, name, size, type }

    /// Writes an object with the keys of ``json``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(hash.description, forKey: .hash)
        try container.encode(name, forKey: .name)
        try container.encode(size, forKey: .size)
        try container.encode(mediaType, forKey: .type)
    }
}
