import Foundation
import GRDB
import PeerSync

/// The changes of an edit to a person.
public struct PersonEdit: Sendable {
    /// First and last name in one, split at the first blank.
    public var name: Change<String> = .keep
    /// The e-mail address. Nothing checks its form.
    public var emailAddress: Change<String> = .keep
    /// The name at BoardGameGeek.
    public var bggUsername: Change<String> = .keep
    /// The file of a picture.
    public var avatar: Change<URL> = .keep

    /// Makes an edit that changes what is given.
    public init(
        name: Change<String> = .keep, emailAddress: Change<String> = .keep,
        bggUsername: Change<String> = .keep, avatar: Change<URL> = .keep
    ) {
        self.name = name
        self.emailAddress = emailAddress
        self.bggUsername = bggUsername
        self.avatar = avatar
    }

    /// Whether it changes nothing.
    public var isEmpty: Bool {
        name == .keep && emailAddress == .keep && bggUsername == .keep && avatar == .keep
    }
}

/// A person, with the number of their matches.
public struct PersonListing: RecordListing, Equatable {
    /// The person.
    public let person: Person
    /// The number of matches in which they took part.
    public let matches: Int
    /// The name of its zone on this machine.
    public let zone: String
    /// The name of the person's record.
    public var recordName: RecordName { person.recordName }

    private enum CodingKeys: String, CodingKey { case name, matches, zone }

    /// Writes the keys of the person's record, and `name`, `matches` and `zone` beside them.
    public func encode(to encoder: any Encoder) throws {
        try person.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(person.name, forKey: .name)
        try container.encode(matches, forKey: .matches)
        try container.encode(zone, forKey: .zone)
    }
}

extension ScorebookStore {
    /// Adds a person.
    ///
    /// - Parameters:
    ///   - name: first and last name, split at the first blank.
    ///   - avatar: the file of a picture.
    /// - Throws: ``ScorebookError`` `invalidValue`; what ``storePicture(_:)-(URL)`` throws.
    @discardableResult
    public func addPerson(
        _ name: String, emailAddress: String? = nil, bggUsername: String? = nil, avatar: URL? = nil
    ) async throws -> Person {
        var person = try Self.newPerson(name, emailAddress: emailAddress, bggUsername: bggUsername)
        if let avatar { person.avatar = try await storePicture(avatar) }
        return try await write { [self, person] db in
            try person.insert(db)
            return try settled(db, person.recordName)
        }
    }

    static func insertPerson(_ db: Database, _ name: String) throws -> Person {
        let person = try newPerson(name)
        try person.insert(db)
        return person
    }

    private static func newPerson(
        _ name: String, emailAddress: String? = nil, bggUsername: String? = nil
    ) throws -> Person {
        let (first, last) = PersonName.split(try Bounds.name(name, "name"))
        return Person(
            firstName: first, lastName: last,
            emailAddress: try emailAddress.map { try Bounds.name($0, "e-mail address") },
            bggUsername: try bggUsername.map { try Bounds.name($0, "name at BoardGameGeek") })
    }

    /// Changes a person.
    @discardableResult
    public func editPerson(_ text: String, _ edit: PersonEdit) async throws -> Person {
        if case .set = edit.avatar { _ = try await find(.person, text) }
        let avatar = try await storePicture(edit.avatar)
        return try await write { [self] db in
            let name = try lookup(.person).find(db, text)
            var person: Person = try Self.fetch(db, name)
            let old = person
            switch edit.name {
            case .keep: break
            case .set(let name):
                (person.firstName, person.lastName) = PersonName.split(try Bounds.name(name, "name"))
            case .clear: throw ScorebookError(.invalidValue, "the name cannot be empty")
            }
            try Bounds.name(edit.emailAddress, "e-mail address").apply(to: &person.emailAddress)
            try Bounds.name(edit.bggUsername, "name at BoardGameGeek").apply(to: &person.bggUsername)
            avatar.apply(to: &person.avatar)
            try person.updateChanges(db, from: old)
            if avatar == .clear { try Self.clear(db, name, "avatar") }
            return try settled(db, name)
        }
    }

    /// Lists all persons, by name.
    public func persons() async throws -> [PersonListing] {
        try await read { [self] db in
            let matches = try Self.counts(
                db, "SELECT person, COUNT(DISTINCT match) FROM SBPlayer GROUP BY person")
            let zones = try ZoneNames(db)
            let merged = try MergedRecords(db, .person)
            return try Person.filter(sql: limits()).fetchAll(db)
                .filter { !merged.contains($0.recordName.description) }
                .map { person in
                    let name = person.recordName.description
                    return PersonListing(
                        person: person, matches: matches[name] ?? 0, zone: try zones.name(db, of: name))
                }
                .sorted {
                    SortKey($0.person.name, $0.person.recordName)
                        < SortKey($1.person.name, $1.person.recordName)
                }
        }
    }

    /// Finds one person.
    public func person(_ text: String) async throws -> PersonListing {
        try await read { [self] db in
            let name = try lookup(.person).find(db, text)
            let sql = "SELECT COUNT(DISTINCT match) FROM SBPlayer WHERE person = ?"
            let matches = try Int.fetchOne(db, sql: sql, arguments: [name]) ?? 0
            return PersonListing(
                person: try Self.fetch(db, name), matches: matches,
                zone: try ZoneNames(db).name(db, of: name.description))
        }
    }
}
