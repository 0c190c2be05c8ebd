/// The choice of matches for a list. Texts name records as everywhere.
public struct MatchFilter: Sendable {
    /// Only matches of this game.
    public var game: String?
    /// Only matches in which this person took part.
    public var person: String?
    /// Only matches that this person won, as recorded or as the scores say.
    public var winner: String?
    /// Only matches of this day or moment, and later ones.
    public var since: String?
    /// Only matches of this day, and earlier ones; or only those before this moment.
    public var until: String?
    /// Only matches at a place whose name has this text. Upper and lower case of a to z are the same.
    public var place: String?
    /// Only matches with this text in the notes, the board, the place or a caption.
    public var text: String?
    /// Only the latest matches, at most this many; none if it is below 0.
    public var limit: Int?
    /// How many of the latest matches are left out before that; by default, and below 0, none.
    public var offset = 0

    /// Makes a filter. What is nil limits nothing.
    public init(
        game: String? = nil, person: String? = nil, winner: String? = nil, since: String? = nil,
        until: String? = nil, place: String? = nil, text: String? = nil, limit: Int? = nil
    ) {
        self.game = game
        self.person = person
        self.winner = winner
        self.since = since
        self.until = until
        self.place = place
        self.text = text
        self.limit = limit
    }

    /// ``offset`` and ``limit``, with what is below 0 as 0.
    var part: (offset: Int, limit: Int) { (max(0, offset), max(0, limit ?? .max)) }
}
