/// The places and the winners of one match, as its scores say.
///
/// The sheet of a match and the statistics both ask it, so that they never differ.
struct Ranking {
    /// What decides about one player.
    struct Entry {
        /// The sum of the points; nil if it is unknown.
        var total: Double?
        /// Nil for none, and never empty.
        var team: String?
        /// The place, 1 for the first; nil if nobody knows it.
        var rank: Int?
        /// Whether the player won; nil if nobody knows it.
        var isWinner: Bool?
    }

    /// How a game is won.
    enum Rule {
        case highestTotal, lowestTotal
        /// By places that somebody writes down.
        case places
        /// All win or lose together, as somebody writes down.
        case together
    }

    let rule: Rule

    /// Whether the totals of the players decide.
    var isByTotals: Bool { rule == .highestTotal || rule == .lowestTotal }

    /// - Parameter game: nil if nobody knows it; the highest total wins then.
    init(_ game: Game?) {
        rule =
            game?.cooperative == true
            ? .together
            : game?.noPoints == true ? .places : game?.highestWins == false ? .lowestTotal : .highestTotal
    }

    /// Rounds the sum of several scores, so that neither the order in which somebody adds fractions up nor their last bits decide who
    /// has won: 0.1 and 0.2 are 0.3. It keeps nine digits behind the point, of large sums fewer.
    static func total(_ sum: Double, of count: Int) -> Double {
        guard count > 1, let scale = [1e9, 1e6, 1e3].first(where: { abs(sum * $0) < 1e13 }) else {
            return sum
        }
        // No minus zero.
        return (sum * scale).rounded() / scale + 0
    }

    /// Fills in places and winners, each only if it is recorded for no player.
    ///
    /// Totals decide about places only if all players have one. All who share the first place win, and those in a team with one of
    /// them. One person alone has always the best total, so only a record says whether they won.
    ///
    /// - Parameters:
    ///   - persons: the number of persons who play. One may play two hands.
    ///   - isOver: whether the match is over. Otherwise nobody has won it yet.
    func complete(_ entries: inout [Entry], persons: Int, isOver: Bool = true) {
        guard persons > 1, rule != .together else { return }
        Self.shareWins(&entries)
        let totals = entries.compactMap(\.total)
        if isByTotals, totals.count == entries.count, entries.allSatisfy({ $0.rank == nil }) {
            let parties = Self.parties(entries) ?? totals
            for index in entries.indices {
                let better = parties.filter {
                    rule == .highestTotal ? $0 > totals[index] : $0 < totals[index]
                }
                entries[index].rank = better.count + 1
            }
        }
        guard isOver, entries.allSatisfy({ $0.isWinner == nil }), entries.contains(where: { $0.rank != nil })
        else { return }
        for index in entries.indices where entries[index].rank == 1 { entries[index].isWinner = true }
        Self.shareWins(&entries)
        for index in entries.indices where entries[index].isWinner == nil { entries[index].isWinner = false }
    }

    /// Lets those win whose team has a winner, unless somebody recorded that they did not.
    private static func shareWins(_ entries: inout [Entry]) {
        guard entries.contains(where: { $0.isWinner == true && $0.team != nil }) else { return }
        let teams = Set(entries.filter { $0.isWinner == true }.compactMap(\.team))
        for index in entries.indices where entries[index].isWinner == nil {
            if let team = entries[index].team, teams.contains(team) { entries[index].isWinner = true }
        }
    }

    /// Returns one total for each team, because such a team takes one place. Returns nil unless all play in teams
    /// whose members have equal totals.
    private static func parties(_ entries: [Entry]) -> [Double]? {
        var totals: [String: Double] = [:]
        for entry in entries {
            guard let team = entry.team, let total = entry.total else { return nil }
            guard totals.updateValue(total, forKey: team) ?? total == total else { return nil }
        }
        return Array(totals.values)
    }
}
