/// Moments as ISO 8601 text in UTC, `2015-11-25T10:00:00Z` or with milliseconds `2015-11-25T10:00:00.250Z`.
///
/// This type replaces Foundation's formatter: every stored record has such a date, and that formatter takes longer
/// than the rest of storing the record. The tests compare the two.
public enum ISO8601 {
    /// The condition for writing the milliseconds.
    public enum Fraction: Sendable {
        /// Only when they are not zero: the form of date fields.
        case ifNeeded
        /// Always, so that the order of the texts is the order of the moments: the form of `modificationDate`.
        case always
    }

    /// The moments whose year has four digits, in milliseconds since 1970.
    public static let writable: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    /// Returns the text of a moment, or nil if its year does not have four digits.
    public static func text(milliseconds: Int64, fraction: Fraction) -> String? {
        guard writable.contains(milliseconds) else { return nil }
        let (days, inDay) = floorDivide(milliseconds, 86_400_000)
        let (year, month, day) = civil(days: days)
        let millis = inDay % 1000
        let seconds = inDay / 1000
        let withFraction = fraction == .always || millis != 0
        return String(unsafeUninitializedCapacity: 24) { buffer in
            var position = 0
            func put(_ byte: UInt8) {
                buffer[position] = byte
                position += 1
            }
            func put(_ value: Int64, digits: Int) {
                var divisor: Int64 = digits == 4 ? 1000 : digits == 3 ? 100 : 10
                while divisor > 0 {
                    put(UInt8(ascii: "0") + UInt8(value / divisor % 10))
                    divisor /= 10
                }
            }
            put(year, digits: 4)
            put(UInt8(ascii: "-"))
            put(month, digits: 2)
            put(UInt8(ascii: "-"))
            put(day, digits: 2)
            put(UInt8(ascii: "T"))
            put(seconds / 3600, digits: 2)
            put(UInt8(ascii: ":"))
            put(seconds / 60 % 60, digits: 2)
            put(UInt8(ascii: ":"))
            put(seconds % 60, digits: 2)
            if withFraction {
                put(UInt8(ascii: "."))
                put(millis, digits: 3)
            }
            put(UInt8(ascii: "Z"))
            return position
        }
    }

    /// Reads a text in exactly the form of `modificationDate`, which is that of ``text(milliseconds:fraction:)`` with
    /// `.always`; returns nil for any other text.
    package static func milliseconds(modificationDate text: String) -> Int64? {
        // The two forms differ only if the milliseconds are zero.
        let isWhole = text.hasSuffix(".000Z")
        guard isWhole || text.utf8.count == 24 else { return nil }
        return milliseconds(canonical: isWhole ? text.dropLast(5) + "Z" : text)
    }

    /// Reads a text in exactly the form of ``text(milliseconds:fraction:)`` with `.ifNeeded`; returns nil for any other
    /// text, even if it looks like a date.
    public static func milliseconds(canonical text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 20 || bytes.count == 24 else { return nil }
        func number(_ start: Int, _ count: Int) -> Int64? {
            var value: Int64 = 0
            for byte in bytes[start..<(start + count)] {
                guard (0x30...0x39).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - 0x30)
            }
            return value
        }
        guard let year = number(0, 4), let month = number(5, 2), let day = number(8, 2),
            let hour = number(11, 2), let minute = number(14, 2), let second = number(17, 2),
            let millis = bytes.count == 24 ? number(20, 3) : 0, (1...12).contains(month)
        else { return nil }
        let seconds =
            daysSince1970(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second
        let milliseconds = seconds * 1000 + millis
        // A number out of range or other punctuation does not come back the same.
        return Self.text(milliseconds: milliseconds, fraction: .ifNeeded) == text ? milliseconds : nil
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    /// Returns the proleptic Gregorian date of a day number. It counts in eras of 400 years that begin on 1 March.
    ///
    /// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = floorDivide(days + 719_468, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let (era, yearOfEra) = floorDivide(month <= 2 ? year - 1 : year, 400)
        let shiftedMonth = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
