@testable import PeerSyncChannel

/// A handshake between two machines, over a wire on which a test may do as it likes.
struct NoiseSession {
    /// Called with the number of the message, 0 to 2, and its bytes; returns what arrives.
    typealias Wire = (Int, [UInt8]) throws -> [UInt8]

    static let prologue = Array("scorebook-peer test".utf8)
    static let payloads: [[UInt8]] = [Array("first".utf8), Array("second".utf8), Array("third".utf8)]
    /// Payload and overhead of each message: e; e, s and two tags; s and two tags.
    static let messageLengths = [32 + 5, 96 + 6, 64 + 5]

    let initiatorStatic: KeyPair
    let responderStatic: KeyPair
    var initiator: NoiseHandshake
    var responder: NoiseHandshake

    init(
        _ initiatorStatic: KeyPair = .generate(), _ responderStatic: KeyPair = .generate(),
        initiatorPrologue: [UInt8] = prologue, responderPrologue: [UInt8] = prologue
    ) {
        self.initiatorStatic = initiatorStatic
        self.responderStatic = responderStatic
        initiator = NoiseHandshake(
            role: .initiator, staticKey: initiatorStatic, prologue: initiatorPrologue)
        responder = NoiseHandshake(
            role: .responder, staticKey: responderStatic, prologue: responderPrologue)
    }

    /// Runs the three messages, and returns the payloads as they came out.
    mutating func run(over wire: Wire = { $1 }) throws -> [[UInt8]] {
        var received: [[UInt8]] = []
        let first = try wire(0, initiator.writeMessage(payload: Self.payloads[0]))
        received.append(try responder.readMessage(first))
        let second = try wire(1, responder.writeMessage(payload: Self.payloads[1]))
        received.append(try initiator.readMessage(second))
        let third = try wire(2, initiator.writeMessage(payload: Self.payloads[2]))
        received.append(try responder.readMessage(third))
        return received
    }

    /// Runs the handshake to the end, and returns both sides' ciphers.
    static func establish() throws -> (initiator: TransportCiphers, responder: TransportCiphers) {
        var session = NoiseSession()
        _ = try session.run()
        return (try session.initiator.finish(), try session.responder.finish())
    }
}
