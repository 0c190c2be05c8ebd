import GRDB
import PeerSync

/// The persons of a match that is being added.
struct MatchPersons {
    /// Looks in the zone of the match's game, where new persons go.
    let lookup: NameLookup
    let createsPersons: Bool
    /// The persons added for this match, by name in lower case. The lookup does not find them: they have no zone
    /// before the fold.
    private var added: [String: RecordName] = [:]

    init(lookup: NameLookup, createsPersons: Bool) {
        self.lookup = lookup
        self.createsPersons = createsPersons
    }

    /// Finds the person that a text names, or adds a new one. “Ann” is a new person beside “Anna Smith”, but not beside
    /// “Ann Smith”.
    mutating func person(_ db: Database, _ text: String) throws -> RecordName {
        guard createsPersons else { return try lookup.find(db, text) }
        if let name = try lookup.findCertain(db, text) ?? added[text.trimmed.lowercased()] { return name }
        let person = try ScorebookStore.insertPerson(db, text)
        added[person.name.lowercased()] = person.recordName
        return person.recordName
    }
}
