import PeerSync

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
        /// The person's number; see ``PlayReader/numbers``.
        let person: Int
        var team: String?
        /// The sum of the points; nil if it is unknown, or if nobody asked for it.
        var total: Double?
        var hasWon: Bool?
    }

    /// The record name of the match; empty if nobody asked for it.
    let match: String
    /// The number of the game; see ``PlayReader/numbers``.
    let game: Int
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
        /// Seconds since 1970, by the clock on the wall.
        let seconds: Int
        /// Days since 1970.
        let day: Int
        /// 0 to 23.
        let hour: Int
        /// 0 for Monday to 6 for Sunday.
        let weekday: Int
    }
}

extension Play.LocalTime {
    /// What ``init(seconds:)`` takes: SQL for a date column, in the time zone of this machine; NULL for what is no date.
    static func sql(_ column: String) -> String { "CAST(strftime('%s', \(column), 'localtime') AS INTEGER)" }

    /// - Parameter seconds: since 1970, by the clock on the wall.
    init(seconds: Int) {
        let day = Int((Double(seconds) / 86_400).rounded(.down))
        self.init(
            seconds: seconds, day: day, hour: (seconds - day * 86_400) / 3600,
            weekday: ((day + 3) % 7 + 7) % 7)
    }

    /// Returns a day as `2025-03-05`.
    static func text(day: Int) -> String {
        ISO8601.text(milliseconds: Int64(day) * 86_400_000, fraction: .ifNeeded).map { String($0.prefix(10)) }
            ?? ""
    }
}
