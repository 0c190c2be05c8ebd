import PeerSync

/// A game in a collection of BoardGameGeek.
struct BGGCollectionEntry {
    let game: BGGGame
    /// Whether somebody has or had the game, or has played it. Other entries are wishes.
    let isOursOrPlayed: Bool

    init(_ element: XMLRecords.Element) throws {
        let place = "line \(element.line)"
        let stats = element.first("stats")?.attributes ?? [:]
        let status = element.first("status")?.attributes ?? [:]
        guard element.attributes["objectid"] != nil else {
            throw ScorebookError(
                .invalidFile,
                "\(place) has no objectid: the file describes games of BoardGameGeek, and is no collection",
                place: place, hint: "the address of a collection has xmlapi2/collection?username=")
        }
        let texts = [
            "objectname": element.first("name")?.text, "yearpublished": element.first("yearpublished")?.text,
            "numplays": element.first("numplays")?.text, "itemtype": element.attributes["subtype"],
        ].compactMapValues(\.self)
        try self.init(line: element.line) { key in
            texts[key] ?? stats[key] ?? status[key] ?? element.attributes[key]
        }
    }

    /// - Parameters:
    ///   - line: where it is in the file.
    ///   - text: returns a value by the name of its column in a CSV export.
    init(line: Int, text: (String) -> String?) throws {
        let values = NumberReader(place: "line \(line)")
        func number(_ key: String) throws -> Int? { try values.number(text(key), key) }
        guard let id = try number("objectid"), id > 0 else {
            throw ImportFileError.at(values.place, "has no objectid")
        }
        game = BGGGame(
            id: id, name: text("objectname")?.filled, year: try number("yearpublished"),
            minPlayers: try number("minplayers"), maxPlayers: try number("maxplayers"))
        let plays = try number("numplays") ?? 0
        let isExpansion = ["expansion", "boardgameexpansion", "boardgameaccessory", "accessory"].contains(
            text("itemtype") ?? "")
        let holdings = ["own", "prevowned", "fortrade", "preordered"].compactMap(text)
        isOursOrPlayed = plays > 0 || !isExpansion && (holdings.isEmpty || holdings.contains("1"))
    }
}
