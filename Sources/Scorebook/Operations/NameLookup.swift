import GRDB
import PeerSyncModel
import PeerSyncStore

/// A lookup of the record that a text names.
struct NameLookup {
    /// The minimum length of a text that counts as the beginning of a UUID.
    static let shortestPrefix = 4
    /// The maximum number of records that an error lists.
    private static let listed = 5

    let kind: RecordKind
    /// The zones to search.
    let scope: ZoneScope

    /// Finds a record by its record name, by its name, or by the beginning of its UUID.
    ///
    /// The first that fits wins, in this order: the whole record name; the name as written; the name without regard to
    /// case; the beginning of the UUID, again without regard to case.
    ///
    /// - Throws: ``ScorebookError``: `notFound`; `ambiguous` with the records that fit; `otherZone` for the whole name of
    ///   a record that is not in the zone.
    func find(_ db: Database, _ text: String) throws -> RecordName {
        let text = text.trimmed
        if text.contains(RecordName.separator) { return try whole(db, text) }
        if let name = try choose(db, text, named: names(db), beginning: beginning) { return name }
        throw try notFound(db, text)
    }

    /// Chooses a record by its name or by the beginning of its UUID; returns nil if none fits.
    ///
    /// - Parameters:
    ///   - named: the candidates with names.
    ///   - beginning: finds the candidates whose UUID begins with a text.
    /// - Throws: `ambiguous` with the candidates that fit.
    func choose(
        _ db: Database, _ text: String, named: [Candidate],
        beginning: (Database, String) throws -> [Candidate]
    ) throws -> RecordName? {
        if let name = try only(db, named.filter { $0.name == text }, text) { return name }
        let lowercased = text.lowercased()
        if let name = try only(db, named.filter { $0.name.lowercased() == lowercased }, text) { return name }
        guard Self.mayBeginUUID(text) else { return nil }
        return try only(db, beginning(db, text), text)
    }

    /// Finds a record as ``find(_:_:)`` does, but returns nil if nothing fits.
    func findIfThere(_ db: Database, _ text: String) throws -> RecordName? {
        do {
            return try find(db, text)
        } catch let error as ScorebookError where error.code == .notFound {
            return nil
        }
    }

    struct Candidate {
        var recordName: String
        var name: String
    }

    private func whole(_ db: Database, _ text: String) throws -> RecordName {
        let name = try parsed(text)
        let sql = "SELECT 1 FROM \(kind.recordType) WHERE recordName = ?"
        guard try Bool.fetchOne(db, sql: sql, arguments: [text]) ?? false else {
            throw ScorebookError(.notFound, "there is no record \(name)")
        }
        try checkZone(db, of: name)
        return name
    }

    /// Parses a whole record name of this kind.
    func parsed(_ text: String) throws -> RecordName {
        let name: RecordName
        do {
            name = try RecordName(text)
        } catch {
            throw ScorebookError(.invalidValue, error.explanation)
        }
        guard name.recordType == kind.recordType else {
            throw ScorebookError(
                .invalidValue,
                "\(name) is not a \(kind.noun); the record name of one begins with \(kind.recordType)|~|")
        }
        return name
    }

    /// - Throws: `otherZone` when a record is not in ``zone``.
    func checkZone(_ db: Database, of name: RecordName) throws {
        let text = name.description
        guard case .one(let zone) = scope,
            try Bool.fetchOne(db, sql: "SELECT \(zone.contains("?"))", arguments: [text]) != true
        else { return }
        throw ScorebookError(
            .otherZone,
            "\(name) is in the zone “\(try ZoneNames(db).name(db, of: text))”, not in “\(zone.name)”; "
                + Self.rule)
    }

    private static let rule = "a match, its game and its players are in one zone"

    /// Returns SQL that is true for the records of the zone.
    ///
    /// - Parameter column: SQL for a record's name.
    func limits(_ column: String = "recordName") -> String { scope.contains(column) }

    /// Returns the records of this kind with their names; nothing for kinds without names.
    private func names(_ db: Database) throws -> [Candidate] {
        let expression: String
        switch kind {
        case .person: expression = PersonName.sql
        case .game: expression = "COALESCE(name, '')"
        default: return []
        }
        let rows = try Row.fetchAll(
            db, sql: "SELECT recordName, \(expression) FROM \(kind.recordType) WHERE \(limits())")
        return rows.map { Candidate(recordName: $0[0], name: $0[1]) }
    }

    private static func mayBeginUUID(_ text: String) -> Bool {
        text.utf8.count >= shortestPrefix && text.allSatisfy { $0.isHexDigit || $0 == "-" }
    }

    private func beginning(_ db: Database, with text: String) throws -> [Candidate] {
        // LIKE ignores the case of ASCII letters: some programs write UUIDs in upper case.
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT recordName FROM \(kind.recordType) WHERE recordName LIKE ? AND \(limits())
                ORDER BY recordName
                """,
            arguments: [kind.recordType + RecordName.separator + text + "%"])
        return rows.map { Candidate(recordName: $0[0], name: "") }
    }

    private func only(_ db: Database, _ candidates: [Candidate], _ text: String) throws -> RecordName? {
        guard let first = candidates.first else { return nil }
        guard candidates.count == 1 else {
            let zones = try ZoneNames(db)
            let areApart = Set(try candidates.map { try zones.name(db, of: $0.recordName) }).count > 1
            let listed = try candidates.prefix(Self.listed).map { candidate in
                let name = Display.printable(candidate.name)
                let record = name.isEmpty ? candidate.recordName : "\(name) (\(candidate.recordName))"
                return try areApart ? "\(record) in “\(zones.name(db, of: candidate.recordName))”" : record
            }
            let more = candidates.count > Self.listed ? " and \(candidates.count - Self.listed) more" : ""
            throw ScorebookError(
                .ambiguous,
                "“\(text)” fits several: \(listed.joined(separator: ", "))\(more); "
                    + "give the record name of one" + (areApart ? ", or its zone with --zone" : "")
            )
        }
        return try RecordName(first.recordName)
    }

    private func notFound(_ db: Database, _ text: String) throws -> ScorebookError {
        let zones = try ZoneNames(db)
        guard case .one(let zone) = scope, zones.areSeveral else { return notFound(text, "") }
        guard let name = try? NameLookup(kind: kind, scope: .all).find(db, text) else {
            return notFound(text, " in the zone “\(zone.name)”")
        }
        let other = try zones.name(db, of: name.description)
        return ScorebookError(
            .notFound, "“\(text)” is in the zone “\(other)”, not in “\(zone.name)”; \(Self.rule)")
    }

    private func notFound(_ text: String, _ place: String) -> ScorebookError {
        switch kind {
        case .person, .game:
            ScorebookError(
                .notFound,
                "there is no \(kind.noun) “\(text)”\(place); `\(kind.noun) list` shows those there are")
        case .match, .score:
            ScorebookError(
                .notFound,
                "there is no \(kind.noun) whose UUID begins with “\(text)”\(place); "
                    + "`\(kind.noun) list` shows those there are"
            )
        case .matchImage:
            ScorebookError(
                .notFound,
                "there is no picture of a match whose UUID begins with “\(text)”\(place); "
                    + "`image list` shows those there are")
        case .player, .matchLocation:
            ScorebookError(.notFound, "there is no \(kind.noun) whose UUID begins with “\(text)”\(place)")
        }
    }
}

/// The names of persons, as two columns and as one text.
enum PersonName {
    /// The whole name of a row of SBPerson, in SQL.
    static let sql = "trim(COALESCE(firstName, '') || ' ' || COALESCE(lastName, ''))"

    /// Splits a name: everything up to the first blank is the first name, the rest the last name.
    static func split(_ name: String) -> (first: String, last: String?) {
        let trimmed = name.trimmed
        guard let blank = trimmed.firstIndex(where: \.isWhitespace) else { return (trimmed, nil) }
        let last = trimmed[blank...].trimmed
        return (String(trimmed[..<blank]), last)
    }
}

extension Person {
    /// First and last name in one.
    public var name: String {
        [firstName, lastName].compactMap(\.self).joined(separator: " ").trimmed
    }
}
