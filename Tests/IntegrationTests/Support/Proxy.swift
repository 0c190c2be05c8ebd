import Synchronization

/// Stands between a caller and a listener, and passes on what they send until one of them has sent so many bytes:
/// from then on nothing of that side comes through.
final class Proxy: Sendable {
    enum Side: Sendable { case caller, listener }

    let address: String
    private let server: Socket
    private let progress = Mutex(0)
    private let limit: Int

    /// - Parameters:
    ///   - port: where the listener is.
    ///   - limit: how many bytes of `side` come through.
    init(to port: Int, limit: Int, of side: Side) throws {
        server = try Socket.listening()
        address = "127.0.0.1:\(try server.port)"
        self.limit = limit
        inBackground { [self] in
            let caller = try server.accepted()
            let listener = try Socket.connected(to: port)
            for (sender, receiver, isHeld) in [
                (caller, listener, side == .caller), (listener, caller, side == .listener),
            ] {
                inBackground { [self] in
                    defer { receiver.shutDown() }
                    try pass(from: sender, to: receiver, isHeld: isHeld)
                }
            }
        }
    }

    /// Whether as much has come through as may.
    var isFull: Bool { progress.withLock { $0 } == limit }

    private func pass(from sender: Socket, to receiver: Socket, isHeld: Bool) throws {
        while true {
            let bytes = try sender.receive(atMost: isHeld ? max(1, min(4096, room)) : 4096)
            if bytes.isEmpty { return }
            if isHeld && room == 0 { continue }
            try receiver.send(bytes)
            if isHeld { progress.withLock { $0 += bytes.count } }
        }
    }

    private var room: Int { limit - progress.withLock { $0 } }
}
