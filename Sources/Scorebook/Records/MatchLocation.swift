import Foundation
import GRDB
import PeerSync

/// The place of a match.
public struct MatchLocation: ScorebookRecord, Equatable {
    /// The kind of these records.
    public static let kind = RecordKind.matchLocation

    /// The record's name, which is the key of its row.
    public var recordName: RecordName
    /// The name of the match's record.
    public var match: RecordName
    /// The name of the place.
    public var name: String?
    /// Degrees, north positive.
    public var latitude: Double?
    /// Degrees, east positive.
    public var longitude: Double?
    /// The date of the last change, ISO 8601. The engine keeps it.
    public private(set) var modificationDate: String?

    /// Makes a location that is not in the scorebook yet.
    public init(
        recordName: RecordName = .new(.matchLocation), match: RecordName, name: String? = nil,
        latitude: Double? = nil, longitude: Double? = nil
    ) {
        self.recordName = recordName
        self.match = match
        self.name = name
        self.latitude = latitude
        self.longitude = longitude
    }

    /// Reads a row, as ``ScorebookRecord`` says.
    public init(row: Row) throws {
        recordName = try row.recordName("recordName")
        match = try row.recordName("match")
        name = row.lenient("name")
        latitude = row.lenient("latitude")
        longitude = row.lenient("longitude")
        modificationDate = row.lenient("modificationDate")
    }

    private enum CodingKeys: String, CodingKey {
        case recordName, match, name, latitude, longitude, modificationDate
    }

    /// Writes every key; unknown values are null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(match, forKey: .match)
        try container.encode(name, forKey: .name)
        try container.encode(latitude, forKey: .latitude)
        try container.encode(longitude, forKey: .longitude)
        try container.encode(modificationDate, forKey: .modificationDate)
    }
}
