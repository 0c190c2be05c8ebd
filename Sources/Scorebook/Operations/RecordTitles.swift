import GRDB
import PeerSync

/// The titles of records for people, also of records without a row.
struct RecordTitles {
    private let db: Database
    private let records: RecordStore
    /// The clock of the reader; nil for days in UTC.
    private let time: LocalTime?

    init(_ db: Database, _ records: RecordStore, _ time: LocalTime? = nil) {
        self.db = db
        self.records = records
        self.time = time
    }

    /// Returns the title of a record; nil for a record that has no name or that the store does not know.
    func title(of name: RecordName) throws -> String? {
        guard let kind = RecordKind(rawValue: name.recordType), let state = try records.state(db, of: name)
        else { return nil }
        return switch kind {
        case .person: state.joined(" ", ["firstName", "lastName"])
        case .game: state.text("name")
        case .match:
            [
                try targetTitle("game", of: state),
                state.text("date").map { time?.text($0) ?? String($0.prefix(10)) },
            ]
            .joined(", ")
        case .player:
            [try targetTitle("person", of: state), try targetTitle("match", of: state)].joined(" in ")
        case .score:
            [state.text("text") ?? state.text("points"), try targetTitle("player", of: state)]
                .joined(" of ")
        case .matchLocation: [state.text("name"), try targetTitle("match", of: state)].joined(" of ")
        case .matchImage:
            [state.text("caption") ?? state.text("image"), try targetTitle("match", of: state)].joined(" of ")
        }
    }

    /// Returns what a sentence calls a record: “Grace Hopper”, “the match Hearts, 2026-11-21”, “the score 5 of Ada in …”.
    func phrase(for name: RecordName) throws -> String {
        guard let kind = RecordKind(rawValue: name.recordType) else { return name.description }
        let title = try title(of: name).map { Display.printable($0) } ?? name.description
        return kind == .person || kind == .game ? title : "the \(kind.noun) \(title)"
    }

    /// Returns the records that people think of, without the players, scores, places and pictures in them; of those that are alone,
    /// the matches that they are of.
    func subjects(of names: [RecordName]) throws -> [RecordName] {
        func has(_ kind: RecordKind) -> [RecordName] { names.filter { $0.recordType == kind.recordType } }
        let (games, persons, added) = (has(.game), has(.person), has(.match))
        // Somebody added both with a match; a person who is deleted takes no match along.
        if !persons.isEmpty, !added.isEmpty { return added }
        for roots in [games + persons, added] where !roots.isEmpty { return roots }
        var matches: [RecordName] = []
        for name in names {
            let player =
                name.recordType == RecordKind.score.recordType ? try target("player", of: name) : name
            let match = try player.flatMap { try target("match", of: $0) }
            if let match, !matches.contains(match) { matches.append(match) }
        }
        return matches
    }

    /// Whether a record was deleted before, so that it is back if it is there.
    func wasDeleted(_ name: RecordName) throws -> Bool {
        try records.state(db, of: name)?.deletion != nil
    }

    /// Whether a person or game has become one with another one.
    func isMerged(_ name: RecordName) throws -> Bool {
        switch try records.state(db, of: name)?.field("mergedInto")?.value {
        case .null, nil: false
        default: true
        }
    }

    /// Returns the deleted records that a person can restore, the last one first. Leaves out what had become one with another record and
    /// went with it: that one brings it back.
    func deleted(_ db: Database, type: String?, in scope: ZoneScope) throws -> [DeletedRecord] {
        try records.listing.deleted(db, type: type, in: scope).filter { try !wentWithAnother($0.name) }
    }

    private func wentWithAnother(_ name: RecordName) throws -> Bool {
        let deletion = try records.state(db, of: name)?.deletion
        var path = [name]
        while let state = try records.state(db, of: path[path.count - 1]),
            case .text(let text)? = state.field("mergedInto")?.value, let next = try? RecordName(text),
            try records.state(db, of: next)?.deletion == deletion
        {
            // In a circle the smallest name is left.
            if let begin = path.firstIndex(of: next) { return path[begin...].min() != name }
            path.append(next)
        }
        return path.count > 1
    }

    /// Returns the record to which a field of a record refers; nil if the store does not know it.
    func target(_ field: String, of name: RecordName) throws -> RecordName? {
        try records.state(db, of: name).flatMap { target(field, of: $0) }
    }

    /// Returns the names of those who played a deleted match, in the order of their seats; nothing for other records.
    func deletedPlayers(of name: RecordName) throws -> [String] {
        guard name.recordType == RecordKind.match.recordType else { return [] }
        let players = try records.listing.withoutRow(db, referringTo: name)
            .filter { $0.recordType == RecordKind.player.recordType }
            .compactMap { try records.state(db, of: $0) }
        func seat(_ player: RecordState) -> Int64 {
            if case .integer(let seat)? = player.field("seatOrder")?.value { seat } else { .max }
        }
        return try players.sorted { (seat($0), $0.name) < (seat($1), $1.name) }
            .compactMap { try targetTitle("person", of: $0) }
    }

    /// Returns the time of a match, in milliseconds since 1970 and in ISO 8601.
    func date(ofMatch name: RecordName) throws -> (moment: Int64, text: String)? {
        guard let state = try records.state(db, of: name),
            case .date(let moment)? = state.field("date")?.value, let text = state.text("date")
        else { return nil }
        return (moment, text)
    }

    private func target(_ field: String, of state: RecordState) -> RecordName? {
        // Follows only references of the type in the schema, which has no cycle. A peer may have put any name there,
        // and a cycle would never end.
        guard case .reference(let type) = ScorebookSchema.columnKind(state.name.recordType, field),
            let name = state.target(field), name.recordType == type
        else { return nil }
        return name
    }

    private func targetTitle(_ field: String, of state: RecordState) throws -> String? {
        try target(field, of: state).flatMap { try title(of: $0) }
    }
}

extension ScorebookStore {
    /// Returns what a sentence is about that tells of records, also of deleted ones: games and persons; else matches; else the
    /// matches that the records are of.
    public func subjects(of names: [RecordName]) async throws -> [RecordName] {
        try await records.database.read { [self] db in
            try RecordTitles(db, records, time).subjects(of: names)
        }
    }

    /// Returns what a sentence calls a record, also a deleted one: “Grace Hopper”, “the match Hearts, 2026-11-21 20:15”.
    public func phrase(for name: RecordName) async throws -> String {
        try await records.database.read { [self] db in try RecordTitles(db, records, time).phrase(for: name) }
    }
}

extension RecordState {
    /// Returns a value as people read it; nil for a missing or empty one.
    fileprivate func text(_ field: String) -> String? {
        switch self.field(field)?.value {
        case .text(let text): text.filled
        case .integer(let value): "\(value)"
        case .real(let value): MatchSheet.Entry.written(value)
        case .date(let milliseconds): ISO8601.text(milliseconds: milliseconds, fraction: .ifNeeded)
        case .asset(let asset): asset.name.filled
        case .null, .blob, .reference, nil: nil
        }
    }

    fileprivate func joined(_ separator: String, _ fields: [String]) -> String? {
        fields.map { text($0) }.joined(separator)
    }
}

extension [String?] {
    /// Joins the texts that are not nil; returns nil if nothing is left.
    fileprivate func joined(_ separator: String) -> String? {
        compactMap(\.self).joined(separator: separator).filled
    }
}
