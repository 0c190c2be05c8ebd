/// One match, as statistics count it.
struct Play {
    /// How a play is won, which decides with what it is counted.
    enum Kind {
        /// Players or teams against each other.
        case competitive
        /// All win or lose together.
        case cooperative
        /// One person alone.
        case solo
    }

    /// One person's part. Who plays with two hands has one part.
    struct Part {
        let person: String
        var team: String?
        /// The sum of the points; nil if it is unknown, or if nobody asked for it.
        var total: Double?
        var hasWon: Bool?
    }

    /// The record name of the match.
    let match: String
    /// The record name of the game.
    let game: String
    /// When it was played; nil if nobody knows.
    let time: LocalTime?
    /// How long it took; 0 if nobody knows.
    let minutes: Int
    /// In no particular order.
    let parts: [Part]
    let kind: Kind

    /// Whether anybody knows who won. Others count as plays, but not for any rate.
    var isDecided: Bool {
        switch kind {
        case .competitive: parts.contains { $0.hasWon == true }
        case .cooperative, .solo: parts.contains { $0.hasWon != nil }
        }
    }

    /// The time of a play on the clock of this machine.
    struct LocalTime: Equatable {
        /// As `2025-03-05`.
        let day: String
        /// 0 to 23.
        let hour: Int
        /// 0 for Monday to 6 for Sunday.
        let weekday: Int

        /// As `2025-03`.
        var month: String { String(day.prefix(7)) }
    }
}

extension Play.LocalTime {
    /// What ``init(_:)`` reads: SQL for a date column, in the time zone of this machine.
    static func sql(_ column: String) -> String { "strftime('%Y-%m-%d %H %w', \(column), 'localtime')" }

    /// Reads `2025-03-05 19 3`, where 0 stands for Sunday.
    init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 3, let hour = Int(parts[1]), let weekday = Int(parts[2]) else { return nil }
        self.init(day: String(parts[0]), hour: hour, weekday: (weekday + 6) % 7)
    }
}
