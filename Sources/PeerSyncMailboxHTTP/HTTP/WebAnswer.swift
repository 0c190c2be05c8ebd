#if WebStorage
    import Foundation
    import NIOHTTP1

    /// What a server answers.
    struct WebAnswer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let body: [UInt8]

        var isSuccess: Bool { (200..<300).contains(status) }

        /// When the server sent the answer, by its own clock; nil if it does not say.
        var date: Date? { headers.first(name: "Date").flatMap(Self.date) }

        /// Reads a time as HTTP writes it: `Tue, 24 Nov 2026 09:00:00 GMT`.
        static func date(_ text: String) -> Date? {
            let style = Date.VerbatimFormatStyle(
                format:
                    "\(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits) GMT",
                locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt,
                calendar: Calendar(identifier: .gregorian))
            return try? Date(text, strategy: style.parseStrategy)
        }
    }
#endif
