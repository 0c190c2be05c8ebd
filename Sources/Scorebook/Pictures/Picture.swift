import GRDB
import PeerSync

/// A picture in a scorebook: one of a match, the avatar of a person, or the thumbnail of a game.
public struct Picture: RecordListing, Equatable {
    /// The record that has the picture.
    public let recordName: RecordName
    /// The column that has the picture: `image`, `avatar` or `thumbnail`.
    public let field: String
    /// The match of the picture; nil for avatars and thumbnails.
    public let match: RecordName?
    /// The subject of the picture, for people: the game and the day of the match on the clock of this machine, the person, or the
    /// game.
    public let subject: String
    /// The file of the picture; nil if the column is empty or holds no picture.
    public let image: Asset?
    /// What is written below a picture of a match.
    public let caption: String?
    /// Whether the file is on this machine.
    public internal(set) var isHere = false
    /// The date of the record's last change, ISO 8601.
    public let modificationDate: String?
    /// The name of its zone on this machine.
    public let zone: String

    /// SQL for all pictures. `section` gives the order of display: those of matches, then of persons, then of games.
    private static let all = """
        SELECT SBMatchImage.recordName, 'image' AS field, match, COALESCE(SBGame.name, '') AS subject, date, image,
            caption, SBMatchImage.modificationDate, 1 AS section
        FROM SBMatchImage
        LEFT JOIN SBMatch ON SBMatch.recordName = SBMatchImage.match
        LEFT JOIN SBGame ON SBGame.recordName = SBMatch.game
        UNION ALL
        SELECT recordName, 'avatar', NULL, \(PersonName.sql), NULL, avatar, NULL, modificationDate, 2
        FROM SBPerson WHERE avatar IS NOT NULL
        UNION ALL
        SELECT recordName, 'thumbnail', NULL, COALESCE(name, ''), NULL, thumbnail, NULL, modificationDate, 3
        FROM SBGame WHERE thumbnail IS NOT NULL
        """

    /// - Parameters:
    ///   - owner: the record that has the picture, or the match of the picture; nil for all.
    ///   - limits: SQL that is true for the record names to fetch.
    ///   - time: the clock for days.
    static func fetchAll(
        _ db: Database, of owner: RecordName?, where limits: String, _ time: LocalTime
    ) throws -> [Picture] {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT * FROM (\(all)) WHERE (?1 IS NULL OR recordName = ?1 OR match = ?1) AND \(limits)
                ORDER BY section, date DESC, match DESC, lower(subject), recordName
                """, arguments: [owner?.description])
        let zones = try ZoneNames(db)
        let merged = try [RecordKind.person, .game].map { try MergedRecords(db, $0) }
        var pictures: [Picture] = []
        while let row = try rows.next() {
            let name: String = row["recordName"]
            // Nobody sees the person any more, and could take the picture away.
            guard !merged.contains(where: { $0.contains(name) }) else { continue }
            pictures.append(try Picture(row, zone: zones.name(db, of: row["recordName"]), time))
        }
        return pictures
    }

    private init(_ row: Row, zone: String, _ time: LocalTime) throws {
        self.zone = zone
        recordName = try row.recordName("recordName")
        field = row["field"]
        match = row.lenient("match")
        let day: String? = (row.lenient("date") as String?).map(time.dayText)
        subject = ([row.lenient("subject") ?? "", day].compactMap(\.self)).joined(separator: ", ")
        image = row.lenient("image")
        caption = row.lenient("caption")
        modificationDate = row.lenient("modificationDate")
    }

    private enum CodingKeys: String, CodingKey {
        case recordName, field, match, subject, image, caption, here, modificationDate, zone
    }

    /// Writes every key; unknown values are null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(field, forKey: .field)
        try container.encode(match, forKey: .match)
        try container.encode(subject, forKey: .subject)
        try container.encode(image, forKey: .image)
        try container.encode(caption, forKey: .caption)
        try container.encode(isHere, forKey: .here)
        try container.encode(modificationDate, forKey: .modificationDate)
        try container.encode(zone, forKey: .zone)
    }
}
