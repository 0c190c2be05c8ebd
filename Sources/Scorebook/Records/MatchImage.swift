import GRDB
import PeerSync

/// A picture of a match.
public struct MatchImage: ScorebookRecord, Equatable {
    /// The kind of these records.
    public static let kind = RecordKind.matchImage

    /// The record's name, which is the key of its row.
    public var recordName: RecordName
    /// The name of the match's record.
    public var match: RecordName
    /// The picture; its file is in the scorebook's directory of assets.
    public var image: Asset?
    /// What is written below the picture.
    public var caption: String?
    /// The date of the last change, ISO 8601. The engine keeps it.
    public private(set) var modificationDate: String?

    /// Makes a picture that is not in the scorebook yet.
    public init(
        recordName: RecordName = .new(.matchImage), match: RecordName, image: Asset? = nil,
        caption: String? = nil
    ) {
        self.recordName = recordName
        self.match = match
        self.image = image
        self.caption = caption
    }

    /// Reads a row, as ``ScorebookRecord`` says.
    public init(row: Row) throws {
        recordName = try row.recordName("recordName")
        match = try row.recordName("match")
        image = row.lenient("image")
        caption = row.lenient("caption")
        modificationDate = row.lenient("modificationDate")
    }

    private enum CodingKeys: String, CodingKey {
        case recordName, match, image, caption, modificationDate
    }

    /// Writes every key; unknown values are null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(match, forKey: .match)
        try container.encode(image, forKey: .image)
        try container.encode(caption, forKey: .caption)
        try container.encode(modificationDate, forKey: .modificationDate)
    }
}
