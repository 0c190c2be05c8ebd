import NIOCore
import PeerSyncChannel
import PeerSyncModel
import Testing

@testable import PeerSync
@testable import PeerSyncProtocol

/// What a message costs while it comes, and afterwards.
struct MessageReaderTests {
    private let key = SecretBytes.random(count: 32)

    /// The frames of a message, of so many bytes of plaintext each.
    private func frames(_ message: Message, _ cipher: inout SendingCipher, of size: Int) throws
        -> [ByteBuffer]
    {
        var plain = ByteBuffer()
        MessageCodec.encode(message, into: &plain)
        var frames: [ByteBuffer] = []
        while let part = plain.readSlice(length: min(size, plain.readableBytes)), part.readableBytes > 0 {
            let sealed = try cipher.seal(Array(part.readableBytesView))
            var frame = ByteBuffer()
            frame.writeInteger(UInt16(sealed.count))
            frame.writeBytes(sealed)
            frames.append(frame)
        }
        return frames
    }

    private func reader() -> (MessageReader, NIOAsyncChannelInboundStream<ByteBuffer>.TestSource) {
        let (stream, source) = NIOAsyncChannelInboundStream<ByteBuffer>.makeTestingStream()
        let decoder = MessageDecoder(
            FrameDecoder(limit: ProtocolLimits.maximumFrame), ReceivingCipher(key: key))
        var reader = MessageReader(InboundBytes(stream), decoder)
        reader.limit = ProtocolLimits.maximumMessage
        return (reader, source)
    }

    private func reconcile(_ count: Int) -> Message {
        .reconcile(Message.Reconcile(zone: 0, payload: [UInt8](repeating: 5, count: count)))
    }

    @Test func aLongMessageLeavesNoLongBufferBehind() async throws {
        var (reader, source) = reader()
        var cipher = SendingCipher(key: key)
        for frame in try frames(reconcile(10 << 20), &cipher, of: NoiseLimits.maximumPlaintextLength) {
            source.yield(frame)
        }
        #expect(try await reader.next() == reconcile(10 << 20))
        #expect(reader.capacity < 1 << 20)
        for frame in try frames(reconcile(10), &cipher, of: 3) { source.yield(frame) }
        #expect(try await reader.next() == reconcile(10))
    }

    /// A listener may have a thousand connections, of which most are idle most of the time.
    @Test func anIdleConnectionKeepsNoBuffer() throws {
        var decoder = MessageDecoder(
            FrameDecoder(limit: ProtocolLimits.maximumFrame), ReceivingCipher(key: key))
        decoder.limit = ProtocolLimits.maximumMessage
        var cipher = SendingCipher(key: key)
        for _ in 0..<2 {
            for frame in try frames(reconcile(20_000), &cipher, of: 30_000) { decoder.append(frame) }
            var found: [MessageDecoder.Event] = []
            while let event = try decoder.next() { found.append(event) }
            #expect(found == [.frame, .message(reconcile(20_000))])
            #expect(decoder.capacity <= 1024)
        }
    }

    /// Bytes that wait to be written to a file must not keep the message that they came in, nor the buffer of it.
    @Test func aPieceOfAFileKeepsItsOwnBytesOnly() throws {
        let hash = try #require(AssetHash([UInt8](repeating: 1, count: 32)))
        var buffer = ByteBuffer(repeating: 0, count: 1 << 20)
        buffer.clear()
        MessageCodec.encode(
            .assetChunk(Message.AssetChunk(hash: hash, offset: 0, bytes: ByteBuffer(bytes: [7]))),
            into: &buffer)
        guard case .assetChunk(let chunk)? = try MessageCodec.decode(&buffer, limit: 1000) else {
            Issue.record("no chunk")
            return
        }
        #expect(Array(chunk.bytes.readableBytesView) == [7])
        #expect(chunk.bytes.storageCapacity < 1024)
    }

    @Test func chunksOfAFileThatFollowEachOtherAreOnePiece() throws {
        let hashes = try [1, 2].map { try #require(AssetHash([UInt8](repeating: $0, count: 32))) }
        var arrived = ArrivedPieces()
        for offset in 0..<10_000 {
            for hash in hashes {
                arrived.add(
                    Message.AssetChunk(
                        hash: hash, offset: UInt64(offset),
                        bytes: ByteBuffer(bytes: [UInt8(truncatingIfNeeded: offset)])), to: nil)
            }
        }
        #expect(arrived.count == 2)
        let first = arrived.take()
        let (hash, piece) = try #require(first)
        #expect(piece.offset == 0)
        #expect(Array(piece.bytes.readableBytesView) == (0..<10_000).map { UInt8(truncatingIfNeeded: $0) })
        // A transfer that begins anew somewhere else.
        let other = hashes.first { $0 != hash }!
        arrived.add(Message.AssetChunk(hash: other, offset: 5, bytes: ByteBuffer(bytes: [9])), to: nil)
        let next = arrived.take()
        #expect(next?.piece.offset == 5 && next?.piece.bytes.readableBytes == 1)
        #expect(arrived.count == 0)
    }
}
