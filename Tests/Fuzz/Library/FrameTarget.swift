import NIOCore
import PeerSyncChannel
import PeerSyncProtocol
import TestSupport

/// The stream of bytes of a connection: however it is cut, the same comes out of it.
enum FrameTarget {
    static let modes = 3

    static func run(_ mode: Int, _ input: inout FuzzInput) throws {
        switch mode {
        case 0: try frames(&input)
        case 1: try messages(&input, tampering: false)
        default: try messages(&input, tampering: true)
        }
    }

    // MARK: Frames

    private struct Cut: Equatable {
        var frames: [ByteBuffer] = []
        var error: ProtocolError?
    }

    /// Frames before the handshake is done, and after the first `handshakeFrames` of them.
    private static func frames(_ input: inout FuzzInput) throws {
        let handshakeFrames = input.number(below: 4)
        let cuts = input.take(input.number(below: 16)).map { Int($0) + 1 }
        let bytes = input.rest()
        let whole = try decode([bytes], handshakeFrames)
        let cut = try decode(pieces(bytes, cuts), handshakeFrames)
        try expect(whole == cut, "the cuts show: \(whole) and \(cut)")
        for (index, frame) in whole.frames.enumerated() {
            let limit =
                index < handshakeFrames ? ProtocolLimits.maximumHandshakeFrame : ProtocolLimits.maximumFrame
            try expect((1...limit).contains(frame.readableBytes), "a frame of \(frame.readableBytes) bytes")
        }
        let length = whole.frames.reduce(0) { $0 + 2 + $1.readableBytes }
        try expect(length <= bytes.count, "frames out of nothing")
    }

    private static func decode(_ pieces: [[UInt8]], _ handshakeFrames: Int) throws -> Cut {
        var decoder = FrameDecoder(limit: ProtocolLimits.maximumHandshakeFrame)
        var result = Cut()
        if handshakeFrames == 0 { decoder.limit = ProtocolLimits.maximumFrame }
        for piece in pieces {
            decoder.append(ByteBuffer(bytes: piece))
            do {
                while let frame = try decoder.next() {
                    result.frames.append(frame)
                    if result.frames.count == handshakeFrames { decoder.limit = ProtocolLimits.maximumFrame }
                }
            } catch {
                try expect(error.code == .malformed, "\(error.code) for bytes")
                result.error = error
                return result
            }
            try expect(decoder.pendingBytes < 2 + decoder.limit, "a frame that is there was kept back")
        }
        return result
    }

    /// The bytes in pieces of these lengths, then the rest.
    private static func pieces(_ bytes: [UInt8], _ lengths: [Int]) -> [[UInt8]] {
        var rest = bytes[...]
        var pieces: [[UInt8]] = []
        for length in lengths {
            pieces.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return pieces + [Array(rest)]
    }

    // MARK: Messages in frames

    private static let key = SecretBytes(copying: [UInt8](1...32))
    private static let sending = SendingCipher(key: key)
    private static let receiving = ReceivingCipher(key: key)

    private struct Heard: Equatable {
        var messages: [Message] = []
        var isMalformed = false
    }

    /// A stream of messages in frames of a peer's choice, on a connection that is cut anywhere.
    ///
    /// - Parameter isTampering: one byte is changed on the way.
    private static func messages(_ input: inout FuzzInput, tampering isTampering: Bool) throws {
        let limit = input.flag() ? ProtocolLimits.maximumUnpairedMessage : Int(input.byte())
        let frameLengths = input.take(input.number(below: 16)).map { Int($0) }
        let cuts = input.take(input.number(below: 16)).map { Int($0) + 1 }
        let change = isTampering ? (Int(input.uint64() % 4096), input.byte()) : nil
        let plain = input.rest()
        var cipher = sending
        var wire: [UInt8] = []
        for piece in pieces(plain, frameLengths) {
            let sealed = try cipher.seal(piece)
            wire += [UInt8(sealed.count >> 8), UInt8(sealed.count & 0xFF)] + sealed
        }
        var isChanged = false
        if let (index, mask) = change, mask != 0, index < wire.count {
            wire[index] ^= mask
            isChanged = true
        }
        let heard = try hear(pieces(wire, cuts), limit, mayFailToDecrypt: isChanged)
        let expected = try listen(plain, limit)
        if isChanged {
            try expect(
                expected.messages.starts(with: heard.messages), "a changed byte made another message")
        } else {
            try expect(heard == expected, "frames show: \(heard) and \(expected)")
        }
    }

    /// What a stream says without frames.
    private static func listen(_ plain: [UInt8], _ limit: Int) throws -> Heard {
        var result = Heard()
        var buffer = ByteBuffer(bytes: plain)
        do {
            while let message = try MessageCodec.decode(&buffer, limit: limit) {
                result.messages.append(message)
            }
        } catch {
            result.isMalformed = true
        }
        return result
    }

    private static func hear(_ pieces: [[UInt8]], _ limit: Int, mayFailToDecrypt: Bool) throws -> Heard {
        var decoder = MessageDecoder(FrameDecoder(limit: ProtocolLimits.maximumFrame), receiving)
        decoder.limit = limit
        var result = Heard()
        for piece in pieces {
            decoder.append(ByteBuffer(bytes: piece))
            do {
                while let event = try decoder.next() {
                    if case .message(let message) = event { result.messages.append(message) }
                }
            } catch {
                try expect(
                    error is ProtocolError || mayFailToDecrypt, "an honest frame did not decrypt: \(error)")
                result.isMalformed = true
                var isOver = false
                do { _ = try decoder.next() } catch { isOver = true }
                try expect(isOver, "it goes on after an error")
                return result
            }
        }
        return result
    }
}
