import PeerSync
import Synchronization

/// A generator of UUIDs of version 7 (RFC 9562). They begin with the time, so names made one after the other lie side
/// by side in the index of record names.
///
/// The UUIDs of one generator ascend, even when the clock is set back. The 12 bits after the time are a counter. It
/// begins at a random value each millisecond, and carries into the time when it overflows (RFC 9562, section 6.2,
/// method 1).
final class UUIDv7: Sendable {
    /// The generator of this process.
    static let shared = UUIDv7()

    /// The last time used: milliseconds, and below them 12 bits of counter.
    private let last = Mutex<UInt64>(0)

    /// Makes a UUID, in lower case.
    ///
    /// - Parameter milliseconds: the time since 1970; only the lower 48 bits count.
    func make(milliseconds: Int64 = RecordStore.wallClock()) -> String {
        let time = UInt64(clamping: milliseconds) & 0xFFFF_FFFF_FFFF
        // The counter begins with a zero in its top bit, so that it has room to count.
        let fresh = time << 12 | UInt64.random(in: 0..<0x800)
        let ticks = last.withLock { last in
            last = fresh > last ? fresh : last + 1
            return last
        }
        let high = (ticks >> 12) << 16 | 0x7000 | ticks & 0xFFF
        let low = UInt64.random(in: 0...UInt64.max) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return UUIDText.text(high: high, low: low)
    }
}

/// The text form of UUIDs.
enum UUIDText {
    /// Returns 36 characters, in lower case.
    static func text(high: UInt64, low: UInt64) -> String {
        var text = ""
        for (index, digit) in (hex(high) + hex(low)).enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    /// Returns 16 hexadecimal digits.
    static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension RecordName {
    /// Makes the name of a new record: its type and a UUIDv7.
    public static func new(_ kind: RecordKind) -> RecordName {
        named(kind, UUIDv7.shared.make())
    }

    /// Makes the name of a record from a UUID that this program made. The rules for names allow every such name.
    static func named(_ kind: RecordKind, _ uuid: String) -> RecordName {
        do {
            return try RecordName(recordType: kind.recordType, suffix: uuid)
        } catch {
            preconditionFailure("\(kind.recordType) and a UUID always make a record name: \(error)")
        }
    }
}
