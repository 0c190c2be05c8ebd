/// A game, as BoardGameGeek describes it.
struct BGGGame {
    /// BoardGameGeek's number of the game.
    let id: Int
    let name: String?
    var year: Int?
    var minPlayers: Int?
    var maxPlayers: Int?
}
