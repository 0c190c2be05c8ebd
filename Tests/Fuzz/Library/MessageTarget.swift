import NIOCore
import PeerSyncProtocol
import TestSupport

/// Messages: what decodes is encoded again, and comes back the same.
enum MessageTarget {
    static let modes = 3

    static func run(_ mode: Int, _ input: inout FuzzInput) throws {
        switch mode {
        case 0: try stream(input.rest())
        case 1: try one(input.rest())
        default: try limited(&input)
        }
    }

    /// Messages one after the other, each behind its length.
    private static func stream(_ bytes: [UInt8]) throws {
        var buffer = ByteBuffer(bytes: bytes)
        do {
            while true {
                let before = buffer.readableBytes
                guard let message = try MessageCodec.decode(&buffer, limit: ProtocolLimits.maximumMessage)
                else {
                    try expect(buffer.readableBytes == before, "an incomplete message was taken off")
                    return
                }
                try expect(buffer.readableBytes < before, "a message without bytes")
                try roundTrip(message, length: before - buffer.readableBytes)
            }
        } catch is ProtocolError {}
    }

    /// One message without its length, which the fuzzer would seldom get right.
    private static func one(_ body: [UInt8]) throws {
        var buffer = ByteBuffer()
        FuzzMessages.append(body, to: &buffer)
        do {
            let message = try MessageCodec.decode(&buffer, limit: ProtocolLimits.maximumMessage)
            try expect(buffer.readableBytes == 0, "a whole message was left")
            guard let message else { throw BrokenInvariant(description: "a whole message was not taken") }
            try roundTrip(message, length: body.count + 4)
        } catch is ProtocolError {}
    }

    /// A length above the limit is refused as soon as the length is there, and one within it never for its length.
    private static func limited(_ input: inout FuzzInput) throws {
        let limit = Int(input.uint64() % 70_000)
        var buffer = ByteBuffer(bytes: input.rest())
        var copy = buffer
        let first = copy.readableBytesView.first.map { 1 << Int($0 >> 6) } ?? 1
        guard let bytes = copy.readBytes(length: first) else {
            let nothing = try MessageCodec.decode(&buffer, limit: limit)
            return try expect(nothing == nil, "a message without a length")
        }
        let length = bytes.dropFirst().reduce(UInt64(bytes[0] & 0x3F)) { $0 << 8 | UInt64($1) }
        do {
            let message = try MessageCodec.decode(&buffer, limit: limit)
            try expect(length <= UInt64(limit), "a message of \(length) bytes was let through")
            try expect(
                (message == nil) == (length > UInt64(copy.readableBytes)), "a message ends where it does not")
        } catch let error as ProtocolError {
            try expect(error.code == .malformed, "\(error.code) for bytes")
            try expect(
                length > UInt64(limit) || length <= UInt64(copy.readableBytes), "refused before it is there")
        }
    }

    /// - Parameter length: bytes that the message came from.
    static func roundTrip(_ message: Message, length: Int) throws {
        let once = FuzzMessages.encoded(message)
        // Tables are numbered anew, which may make a number longer; nothing else grows, but a name that is missing.
        try expect(
            once.readableBytes <= 2 * length + 64, "\(length) bytes became \(once.readableBytes)")
        var rest = once
        let again: Message?
        do {
            again = try MessageCodec.decode(&rest, limit: ProtocolLimits.maximumMessage)
        } catch {
            throw BrokenInvariant(description: "what was encoded does not decode: \(error)")
        }
        guard let again, rest.readableBytes == 0 else {
            throw BrokenInvariant(description: "what was encoded is not one message")
        }
        // For a number that may be a NaN there is none; see BatchCodec.
        try expect(again == message, "\(message) came back as \(again)")
        try expect(FuzzMessages.encoded(again) == once, "a message has two encodings")
    }
}

/// Helps to make messages.
enum FuzzMessages {
    static func encoded(_ message: Message) -> ByteBuffer {
        var buffer = ByteBuffer()
        MessageCodec.encode(message, into: &buffer)
        return buffer
    }

    /// Appends a message's type and payload behind their length, in four bytes.
    static func append(_ body: [UInt8], to buffer: inout ByteBuffer) {
        buffer.writeInteger(UInt32(body.count) | 0x8000_0000)
        buffer.writeBytes(body)
    }

    /// The message with that type and payload; nil when there is none.
    static func decoded(_ body: [UInt8]) -> Message? {
        var buffer = ByteBuffer()
        append(body, to: &buffer)
        return try? MessageCodec.decode(&buffer, limit: ProtocolLimits.maximumMessage)
    }
}
