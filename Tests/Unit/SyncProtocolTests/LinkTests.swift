import NIOCore
import PeerSyncChannel
import PeerSyncModel
import Testing

@testable import PeerSyncProtocol

/// A link from the first byte on: what a stranger may send, and what may come when the handshake is done.
struct LinkTests {
    /// One side of a link after the handshake.
    private struct Side {
        var encoder: MessageEncoder
        var decoder: MessageDecoder

        init(_ ciphers: TransportCiphers, _ frames: FrameDecoder) {
            encoder = MessageEncoder(ciphers.send)
            decoder = MessageDecoder(frames, ciphers.receive)
        }

        mutating func bytes(_ message: Message) throws -> ByteBuffer {
            var bytes = ByteBuffer()
            encoder.begin(message)
            while let frame = try encoder.nextFrame() { bytes.writeImmutableBuffer(frame) }
            return bytes
        }

        /// The next whole message.
        mutating func message() throws -> Message? {
            while let event = try decoder.next() {
                if case .message(let message) = event { return message }
            }
            return nil
        }
    }

    private struct NotDone: Error {}

    private let app: AppID = "org.example.books"

    private func done(_ step: LinkHandshake.Step?) throws -> Side {
        guard case .done(let ciphers, let frames)? = step else { throw NotDone() }
        return Side(ciphers, frames)
    }

    private func bytes(_ step: LinkHandshake.Step?) throws -> ByteBuffer {
        guard case .send(let bytes)? = step else { throw NotDone() }
        return bytes
    }

    private func link() throws -> (caller: Side, listener: Side) {
        var caller = LinkHandshake(role: .initiator, app: app, staticKey: .generate())
        var listener = LinkHandshake(role: .responder, app: app, staticKey: .generate())
        listener.append(try #require(try caller.start()))
        caller.append(try bytes(listener.next()))
        listener.append(try bytes(caller.next()))
        return (try done(caller.next()), try done(listener.next()))
    }

    private func reconcile(_ count: Int) -> Message {
        .reconcile(Message.Reconcile(zone: 0, payload: [UInt8](repeating: 5, count: count)))
    }

    /// Whatever comes behind the error, nobody answers it.
    @Test(arguments: [NoiseHandshake.Role.initiator, .responder])
    func aHandshakeThatFailedIsOver(role: NoiseHandshake.Role) throws {
        var handshake = LinkHandshake(role: role, app: app, staticKey: .generate())
        _ = try handshake.start()
        let tooShort = ByteBuffer(bytes: [0, 3, 1, 2, 3])
        handshake.append(tooShort)
        #expect(throws: SecureChannelError.self) { try handshake.next() }
        handshake.append(tooShort)
        #expect(try handshake.next() == nil)
    }

    /// Nobody has sent the app's id. The caller sees that the keys differ, and the listener sees that the caller is gone.
    @Test(arguments: ["org.example.todo", "org.example.book", "org.example.books2", "ORG.example.books"])
    func machinesOfTwoAppsDoNotGetBeyondTheHandshake(other: String) throws {
        var caller = LinkHandshake(role: .initiator, app: app, staticKey: .generate())
        var listener = LinkHandshake(role: .responder, app: try AppID(other), staticKey: .generate())
        listener.append(try #require(try caller.start()))
        caller.append(try bytes(listener.next()))
        let error = #expect(throws: SecureChannelError.self) { try caller.next() }
        #expect(error?.code == .authenticationFailed)
        #expect(try caller.next() == nil)
        #expect(try listener.next() == nil)
    }

    /// Frames of the handshake are short, those behind it need not be.
    @Test func longFramesComeBehindTheHandshake() throws {
        var (caller, listener) = try link()
        listener.decoder.append(try caller.bytes(reconcile(60_000)))
        #expect(try listener.message() == reconcile(60_000))
        caller.decoder.append(try listener.bytes(reconcile(60_000)))
        #expect(try caller.message() == reconcile(60_000))
    }

    /// Whoever has not proved to be paired sends no more than a greeting takes.
    @Test func aStrangersMessageIsShort() throws {
        var (caller, listener) = try link()
        let long = try caller.bytes(reconcile(70_000))
        var trusting = listener
        listener.decoder.append(long)
        let error = #expect(throws: ProtocolError.self) { try listener.message() }
        #expect(error?.code == .malformed)
        trusting.decoder.limit = ProtocolLimits.maximumMessage
        trusting.decoder.append(long)
        #expect(try trusting.message() == reconcile(70_000))
    }

    /// A stream that was wrong once has no place at which it could be trusted again.
    @Test func behindAnErrorNothingIsRead() throws {
        var (caller, listener) = try link()
        listener.decoder.append(ByteBuffer(bytes: [0, 0]))
        for _ in 0..<2 {
            let error = #expect(throws: ProtocolError.self) { try listener.message() }
            #expect(error?.code == .malformed)
            listener.decoder.append(try caller.bytes(.goodbye))
        }
        var changed = try caller.bytes(.goodbye)
        changed.setInteger(UInt8(0xFF), at: 5)
        (caller, listener) = try link()
        listener.decoder.append(changed)
        for _ in 0..<2 {
            let error = #expect(throws: SecureChannelError.self) { try listener.message() }
            #expect(error?.code == .authenticationFailed)
            listener.decoder.append(try caller.bytes(.goodbye))
        }
    }
}
