import GRDB
import PeerSync

/// A person who plays.
public struct Person: ScorebookRecord, Equatable {
    /// The kind of these records.
    public static let kind = RecordKind.person

    /// The record's name, which is the key of its row.
    public var recordName: RecordName
    /// The name up to its first blank; ``name`` has all of it.
    public var firstName: String?
    /// The name behind its first blank; nil if it has none.
    public var lastName: String?
    /// The e-mail address, as somebody wrote it down.
    public var emailAddress: String?
    /// The name at BoardGameGeek.
    public var bggUsername: String?
    /// A picture; its file is in the scorebook's directory of assets.
    public var avatar: Asset?
    /// The date of the last change, ISO 8601. The engine keeps it.
    public private(set) var modificationDate: String?

    /// Makes a person that is not in the scorebook yet.
    public init(
        recordName: RecordName = .new(.person), firstName: String? = nil, lastName: String? = nil,
        emailAddress: String? = nil, bggUsername: String? = nil, avatar: Asset? = nil
    ) {
        self.recordName = recordName
        self.firstName = firstName
        self.lastName = lastName
        self.emailAddress = emailAddress
        self.bggUsername = bggUsername
        self.avatar = avatar
    }

    /// Reads a row, as ``ScorebookRecord`` says.
    public init(row: Row) throws {
        recordName = try row.recordName("recordName")
        firstName = row.lenient("firstName")
        lastName = row.lenient("lastName")
        emailAddress = row.lenient("emailAddress")
        bggUsername = row.lenient("bggUsername")
        avatar = row.lenient("avatar")
        modificationDate = row.lenient("modificationDate")
    }

    private enum CodingKeys: String, CodingKey {
        case recordName, firstName, lastName, emailAddress, bggUsername, avatar, modificationDate
    }

    /// Writes every key; unknown values are null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(firstName, forKey: .firstName)
        try container.encode(lastName, forKey: .lastName)
        try container.encode(emailAddress, forKey: .emailAddress)
        try container.encode(bggUsername, forKey: .bggUsername)
        try container.encode(avatar, forKey: .avatar)
        try container.encode(modificationDate, forKey: .modificationDate)
    }
}
