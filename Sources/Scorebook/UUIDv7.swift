import RecordStore
import SyncModel
import Synchronization

/// Makes UUIDs of version 7 (RFC 9562): they begin with the time, so names made after each other lie beside
/// each other in the index of record names.
///
/// Those made by one generator are in ascending order, even when the clock is set back: the 12 bits after the
/// time are a counter that begins at a random place each millisecond and carries into the time when it
/// overflows (RFC 9562, section 6.2, method 1).
final class UUIDv7: Sendable {
    /// The generator of this process.
    static let shared = UUIDv7()

    /// The last time given out, with 12 bits of counter below the milliseconds.
    private let last = Mutex<UInt64>(0)

    /// A new UUID, in lower case.
    ///
    /// - Parameter milliseconds: the time since 1970, of which 48 bits are used.
    func make(milliseconds: Int64 = RecordStore.wallClock()) -> String {
        let time = UInt64(clamping: milliseconds) & 0xFFFF_FFFF_FFFF
        // The counter's top bit is left free, so that it has room to count.
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
    /// 36 characters, in lower case.
    static func text(high: UInt64, low: UInt64) -> String {
        var text = ""
        for (index, digit) in (hex(high) + hex(low)).enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    /// 16 hexadecimal digits.
    static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension RecordName {
    /// The name of a new record: its type and a UUIDv7.
    public static func new(_ kind: RecordKind) -> RecordName {
        named(kind, UUIDv7.shared.make())
    }

    /// The name of a record with a UUID of ours, which no rule of names refuses.
    static func named(_ kind: RecordKind, _ uuid: String) -> RecordName {
        do {
            return try RecordName(recordType: kind.recordType, suffix: uuid)
        } catch {
            preconditionFailure("\(kind.recordType) and a UUID always make a record name: \(error)")
        }
    }
}
