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
