import GRDB
import PeerSync

/// A lookup of the record that a text names.
struct NameLookup {
    /// The minimum length of a text that counts as the beginning or the end of a UUID.
    static let shortestPart = 4

    let kind: RecordKind
    /// The zones to search.
    let scope: ZoneScope
    let habits: Habits
    /// Understands days.
    let time: LocalTime
    /// Looks only among the persons who played this match.
    private(set) var match: RecordName?
    /// Looks only among unfinished matches.
    private(set) var isAmongUnfinished = false
    /// Knows the titles of records without a row, when the lookup is for deleted ones.
    private(set) var titles: RecordTitles?

    /// Returns the same lookup for another kind, or in other zones.
    func of(_ kind: RecordKind? = nil, in scope: ZoneScope? = nil) -> NameLookup {
        NameLookup(kind: kind ?? self.kind, scope: scope ?? self.scope, habits: habits, time: time)
    }

    /// Returns the same lookup for the persons who played a match.
    func amongPlayers(of match: RecordName) -> NameLookup {
        var lookup = self
        lookup.match = match
        return lookup
    }

    /// Returns the same lookup for matches that go on.
    func amongUnfinished() -> NameLookup {
        var lookup = self
        lookup.isAmongUnfinished = true
        return lookup
    }

    /// Returns the same lookup, which tells deleted records apart.
    func with(_ titles: RecordTitles) -> NameLookup {
        var lookup = self
        lookup.titles = titles
        return lookup
    }

    /// Finds a record.
    ///
    /// The first that fits wins, in this order: the whole record name; the name as written; the name without regard to
    /// case; for a match what ``phrase(_:_:)`` understands; whole words of the name, or the number in the list that the
    /// person saw last; the beginning or the end of the UUID; the beginning of the name or of words of it.
    ///
    /// - Throws: ``ScorebookError``: `notFound`; `ambiguous` with the records that fit; `otherZone` for the whole name of
    ///   a record that is not in the zone.
    func find(_ db: Database, _ text: String) throws -> RecordName {
        let text = text.trimmed
        if text.contains(RecordName.separator) { return try whole(db, text) }
        if let name = try inUse({ try $0.findIfThere(db, text) }) { return name }
        if let name = try findByName(db, text, words: true) ?? findByParts(db, text) { return name }
        throw try notFound(db, text)
    }

    /// Looks in the zone in use, where the person means no other one.
    private func inUse(_ find: (NameLookup) throws -> RecordName?) throws -> RecordName? {
        guard case .all = scope, match == nil, let zone = habits.zone else { return nil }
        // The error for what is not there looks into all zones, and must not come here again.
        var habits = habits
        habits.zone = nil
        var lookup = NameLookup(kind: kind, scope: .one(zone), habits: habits, time: time)
        lookup.isAmongUnfinished = isAmongUnfinished
        do {
            return try find(lookup)
        } catch let error as ScorebookError where error.code == .otherZone {
            return nil
        }
    }

    /// Finds a record as ``find(_:_:)`` does, but returns nil if nothing fits.
    func findIfThere(_ db: Database, _ text: String) throws -> RecordName? {
        do {
            return try find(db, text)
        } catch let error as ScorebookError where error.code == .notFound {
            return nil
        }
    }

    /// Finds a record by a name that leaves nothing to guess: as ``find(_:_:)``, without beginnings of names.
    ///
    /// - Returns: nil if nothing fits.
    func findCertain(_ db: Database, _ text: String) throws -> RecordName? {
        let text = text.trimmed
        if text.contains(RecordName.separator) { return try whole(db, text) }
        if let name = try inUse({ try $0.findCertain(db, text) }) { return name }
        return try findByName(db, text, words: true) ?? choose(db, text, identified(db, text))
    }

    /// Finds a record by its whole name alone, without regard to case and accents, or by the person's choice.
    func findNamed(_ db: Database, _ text: String) throws -> RecordName? {
        try inUse { try $0.findNamed(db, text) } ?? findByName(db, text.trimmed, words: false)
    }

    private func findByName(_ db: Database, _ text: String, words: Bool) throws -> RecordName? {
        if let chosen = habits.chosen[RecordChoice.Question(kind: kind, text: text)] {
            try checkZone(db, of: chosen)
            return chosen
        }
        let names = try names(db)
        if let name = try choose(db, text, exactly: names) { return name }
        guard words else {
            let folded = NameFit.folded(text)
            return try choose(db, text, names.filter { NameFit.folded($0.name.trimmed) == folded })
        }
        if kind == .match, let matches = try phrase(db, text) { return try choose(db, text, matches) }
        let fit = NameFit(text)
        // A number must not lead to the list if it is also a word of another name: that list may be an old one.
        return try choose(db, text, numbered(db, text) + names.filter { fit.isOfWords($0.name) })
    }

    private func findByParts(_ db: Database, _ text: String) throws -> RecordName? {
        if let name = try choose(db, text, identified(db, text)) { return name }
        let fit = NameFit(text)
        return try choose(db, text, names(db).filter { fit.isBeginning($0.name) })
            ?? (kind == .match ? choose(db, text, matches(db, ofGame: text)) : nil)
    }

    /// Chooses among names: the one as written; the one that differs only in case.
    func choose(_ db: Database, _ text: String, exactly names: [NamedRecord]) throws -> RecordName? {
        if let name = try choose(db, text, names.filter { $0.name == text }) { return name }
        let lowercased = text.lowercased()
        return try choose(db, text, names.filter { $0.name.lowercased() == lowercased })
    }

    /// Returns the only one of the records that fit; nil if there is none.
    ///
    /// - Throws: `ambiguous` if there are several.
    func choose(_ db: Database, _ text: String, _ records: [NamedRecord]) throws -> RecordName? {
        guard let first = records.first else { return nil }
        guard records.allSatisfy({ $0.recordName == first.recordName }) else {
            throw try severalFit(db, text, records)
        }
        return try RecordName(first.recordName)
    }

    // MARK: Whole record names

    private func whole(_ db: Database, _ text: String) throws -> RecordName {
        let name = try parsed(text)
        guard try isThere(db, name) else {
            throw ScorebookError(.notFound, "there is no record \(name)")
        }
        try checkZone(db, of: name)
        return try RecordName(MergedRecords(db, kind).survivor(of: text))
    }

    private func isThere(_ db: Database, _ name: RecordName) throws -> Bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM \(kind.recordType) WHERE recordName = ?)"
        return try Bool.fetchOne(db, sql: sql, arguments: [name.description]) ?? false
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
                + Self.zoneRule)
    }

    // MARK: Candidates

    /// Returns SQL that is true for the records of the zone.
    ///
    /// - Parameter column: SQL for a record's name.
    func limits(_ column: String = "recordName") -> String {
        if isAmongUnfinished { return "\(scope.contains(column)) AND unfinished = 1" }
        guard let match else { return scope.contains(column) }
        return
            "\(column) IN (SELECT person FROM SBPlayer WHERE match = '\(match.description.replacing("'", with: "''"))')"
    }

    /// Returns the records of this kind with their names; nothing for kinds without names.
    func names(_ db: Database) throws -> [NamedRecord] {
        let expression: String
        switch kind {
        case .person: expression = PersonName.sql
        case .game: expression = "CASE typeof(name) WHEN 'text' THEN name ELSE '' END"
        default: return []
        }
        let rows = try Row.fetchAll(
            db, sql: "SELECT recordName, \(expression) FROM \(kind.recordType) WHERE \(limits())")
        let merged = try MergedRecords(db, kind)
        return rows.map { NamedRecord(recordName: $0[0], name: String.fromDatabaseValue($0[1]) ?? "") }.filter
        {
            !merged.contains($0.recordName)
        }
    }

    /// Returns the record that has the number in the list that the person saw last.
    private func numbered(_ db: Database, _ text: String) throws -> [NamedRecord] {
        guard let number = Int(text), let name = habits.numbered(kind, number) else { return [] }
        guard try isThere(db, name) else {
            throw ScorebookError(
                .notFound, "the \(kind.noun) with the number \(text) in the last list is not there any more")
        }
        try checkZone(db, of: name)
        return [NamedRecord(recordName: try MergedRecords(db, kind).survivor(of: name.description), name: "")]
    }

    /// Returns the records whose UUID begins or ends with the text, or is the text.
    private func identified(_ db: Database, _ text: String) throws -> [NamedRecord] {
        guard !text.isEmpty, text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
        else { return [] }
        let whole = kind.recordType + RecordName.separator + text
        // LIKE ignores the case of ASCII letters: some programs write UUIDs in upper case.
        let sql = """
            SELECT recordName FROM \(kind.recordType)
            WHERE (recordName LIKE ? OR recordName LIKE ?) AND \(limits()) ORDER BY recordName
            """
        let isPart = Self.mayBePart(text)
        let merged = try MergedRecords(db, kind)
        return try String.fetchAll(
            db, sql: sql, arguments: [isPart ? whole + "%" : whole, isPart ? "%" + text : whole]
        ).map { NamedRecord(recordName: merged.survivor(of: $0), name: "") }
    }

    /// Whether the text is long enough, and of the right characters, to be a part of a UUID.
    static func mayBePart(_ text: String) -> Bool {
        // Digits alone are more likely the number of a list that is not remembered any more. Lists show six characters.
        let shortest = text.allSatisfy(\.isNumber) ? 6 : shortestPart
        return text.utf8.count >= shortest && text.allSatisfy { $0.isASCII && ($0.isHexDigit || $0 == "-") }
    }
}

/// A record with its name for people, empty if it has none.
struct NamedRecord {
    let recordName: String
    let name: String
}
