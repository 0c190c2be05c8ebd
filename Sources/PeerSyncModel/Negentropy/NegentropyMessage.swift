/// The constants of Negentropy Protocol V1 (github.com/hoytech/negentropy, docs/negentropy-protocol-v1.md), and of the
/// reference implementation where the specification is silent.
package enum NegentropyV1 {
    /// The byte that stands for version 1.
    package static let versionByte: UInt8 = 0x61
    /// The bytes that stand for any version.
    static let versionBytes: ClosedRange<UInt8> = 0x60...0x6F
    /// Bytes of a fingerprint.
    static let fingerprintLength = 16
    /// The number of parts into which a side splits a range that differs.
    static let buckets = 16
    /// The smallest limit of a message's length.
    static let minimumFrameSize = 4096
    /// Bytes of a frame that stay free for parts written without a check of the length: a skip, the bound of an id
    /// list, its last id, and the fingerprint that ends the message.
    static let frameReserve = 200
}

/// Base-128 integers, the most significant group first, the high bit set on all bytes but the last: 1...10 bytes.
enum Base128Integer {
    /// Appends `value` in the fewest bytes.
    static func append(_ value: UInt64, to output: inout [UInt8]) {
        let significantBits = UInt64.bitWidth - value.leadingZeroBitCount
        var shift = max(0, significantBits - 1) / 7 * 7
        while shift > 0 {
            output.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)) | 0x80)
            shift -= 7
        }
        output.append(UInt8(truncatingIfNeeded: value) & 0x7F)
    }
}

/// The content of a range in a message. The raw values are those on the wire.
enum NegentropyMode: UInt64 {
    /// The range is settled.
    case skip = 0
    /// The fingerprint of all ids that the sender has there.
    case fingerprint = 1
    /// All ids that the sender has there.
    case idList = 2
}

/// One range of a received message; it begins where the range before it ends, the first at zero.
struct NegentropyRange {
    enum Payload {
        case skip
        /// 16 bytes.
        case fingerprint(ArraySlice<UInt8>)
        case idList(NegentropyIDList)
    }

    let upperBound: NegentropyBound
    let payload: Payload
}

/// Ids as they stand in a received message, without a copy.
struct NegentropyIDList: RandomAccessCollection {
    /// A whole number of ids.
    private let bytes: ArraySlice<UInt8>

    fileprivate init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    var startIndex: Int { 0 }
    var endIndex: Int { bytes.count / NegentropyID.byteCount }

    subscript(index: Int) -> NegentropyID {
        let start = bytes.startIndex + index * NegentropyID.byteCount
        return NegentropyID(zeroPadding: bytes[start..<(start + NegentropyID.byteCount)])
    }
}

/// Reads a message range by range. It allocates nothing for a length that the sender only claims, and any bytes lead
/// to an end or an error.
struct NegentropyReader {
    private var reader: ByteReader
    private var previous = NegentropyBound(timestamp: 0)

    init(_ message: [UInt8]) {
        reader = ByteReader(message)
    }

    /// Reads the first byte of every message.
    mutating func version() throws(NegentropyError) -> UInt8 {
        let byte = try byte()
        guard NegentropyV1.versionBytes.contains(byte) else { throw .notNegentropy(byte) }
        return byte
    }

    /// Reads the next range; returns nil at the end of the message.
    mutating func range() throws(NegentropyError) -> NegentropyRange? {
        guard !reader.isAtEnd else { return nil }
        let bound = try bound()
        let mode = try number()
        let payload: NegentropyRange.Payload =
            switch NegentropyMode(rawValue: mode) {
            case .skip: .skip
            case .fingerprint: .fingerprint(try read(NegentropyV1.fingerprintLength))
            case .idList: .idList(try idList())
            case nil: throw .unknownMode(mode)
            }
        return NegentropyRange(upperBound: bound, payload: payload)
    }

    private mutating func bound() throws(NegentropyError) -> NegentropyBound {
        let timestamp = try timestamp()
        let length = try number()
        guard length <= NegentropyID.byteCount else { throw .prefixTooLong(length) }
        let bound = NegentropyBound(timestamp: timestamp, prefix: Array(try read(Int(length))))
        // Equal bounds are legal: after a list of ids up to infinity that fills a frame, the sender adds a fingerprint
        // of no ids up to infinity.
        guard bound.position >= previous.position else { throw .descendingBounds }
        previous = bound
        return bound
    }

    /// Reads a timestamp: zero is infinity, any other number is the distance from the previous timestamp plus one.
    private mutating func timestamp() throws(NegentropyError) -> UInt64 {
        let encoded = try number()
        guard encoded > 0 else { return .max }
        let (timestamp, overflow) = previous.position.timestamp.addingReportingOverflow(encoded - 1)
        guard !overflow, timestamp < .max else { throw .timestampTooGreat }
        return timestamp
    }

    private mutating func idList() throws(NegentropyError) -> NegentropyIDList {
        let count = try number()
        guard count <= UInt64(Int.max / NegentropyID.byteCount) else { throw .truncated }
        return NegentropyIDList(try read(Int(count) * NegentropyID.byteCount))
    }

    private mutating func number() throws(NegentropyError) -> UInt64 {
        var value: UInt64 = 0
        while true {
            let next = try byte()
            // A first byte of 0x80 is a leading zero. Seven more bits must fit.
            guard value > 0 || next != 0x80, value >> (64 - 7) == 0 else { throw .malformedNumber }
            value = value << 7 | UInt64(next & 0x7F)
            if next & 0x80 == 0 { return value }
        }
    }

    private mutating func byte() throws(NegentropyError) -> UInt8 {
        do { return try reader.byte() } catch { throw .truncated }
    }

    private mutating func read(_ count: Int) throws(NegentropyError) -> ArraySlice<UInt8> {
        do { return try reader.read(count) } catch { throw .truncated }
    }
}

/// Writes a message range by range. The bounds must ascend.
struct NegentropyWriter {
    private(set) var message: [UInt8] = [NegentropyV1.versionByte]
    private var previousTimestamp: UInt64 = 0

    mutating func appendSkip(upTo bound: NegentropyBound) {
        append(bound, .skip)
    }

    mutating func append(fingerprint: [UInt8], upTo bound: NegentropyBound) {
        append(bound, .fingerprint)
        message.append(contentsOf: fingerprint)
    }

    mutating func append(idsOf items: ArraySlice<NegentropyItem>, upTo bound: NegentropyBound) {
        append(bound, .idList)
        Base128Integer.append(UInt64(items.count), to: &message)
        for item in items {
            item.id.withUnsafeBytes { message.append(contentsOf: $0) }
        }
    }

    /// Removes all but the first `length` bytes, and ends the message with a fingerprint for the rest.
    mutating func end(keeping length: Int, fingerprint: [UInt8]) {
        message.removeSubrange(length...)
        // The encoding of infinity does not depend on the previous bound, which has changed now.
        append(fingerprint: fingerprint, upTo: .infinity)
    }

    private mutating func append(_ bound: NegentropyBound, _ mode: NegentropyMode) {
        let timestamp = bound.position.timestamp
        let isInfinity = timestamp == .max
        Base128Integer.append(isInfinity ? 0 : timestamp - previousTimestamp + 1, to: &message)
        previousTimestamp = timestamp
        Base128Integer.append(UInt64(bound.prefixLength), to: &message)
        message.append(contentsOf: bound.position.id.bytes.prefix(bound.prefixLength))
        Base128Integer.append(mode.rawValue, to: &message)
    }
}
