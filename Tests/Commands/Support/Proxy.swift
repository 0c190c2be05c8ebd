import Foundation
import Synchronization

/// Stands between a caller and a listener, and passes on what they send: whole, late, or up to a byte.
final class Proxy: Sendable {
    enum Side: CaseIterable, Sendable { case caller, listener }

    /// What goes wrong on the way.
    enum Fault: Sendable {
        /// When a side has sent so many bytes, nothing of it comes through any more, and nobody hears of it.
        case stall(Side, afterBytes: Int)
        /// When a side has sent so many bytes, both find the connection ended.
        case cut(Side, afterBytes: Int)
        /// One byte that a side sends is another when it arrives: the one after so many.
        case flip(Side, afterBytes: Int)
        /// Everything comes late, a kilobyte at a time.
        case delay(Duration)
        /// Nothing goes wrong, and all that passes is kept: what an eavesdropper has.
        case record
    }

    let address: String
    private let server: Socket
    private let progress = Mutex(0)
    private let records = Mutex<[Side: [UInt8]]>([:])
    private let fault: Fault

    /// - Parameter port: where the listener is.
    init(to port: Int, _ fault: Fault) throws {
        server = try Socket.listening()
        address = "127.0.0.1:\(try server.port)"
        self.fault = fault
        inBackground { [self] in
            while true {
                let caller = try server.accepted()
                let listener = try Socket.connected(to: port)
                for (side, sender, receiver) in [
                    (Side.caller, caller, listener), (.listener, listener, caller),
                ] {
                    inBackground { [self] in
                        defer {
                            receiver.shutDown()
                            sender.shutDown()
                        }
                        try pass(side, from: sender, to: receiver)
                    }
                }
            }
        }
    }

    /// What a side has sent so far, over all connections, if it was to be recorded.
    func record(of side: Side) -> [UInt8] { records.withLock { $0[side, default: []] } }

    /// Whether as much has come through as may.
    var isFull: Bool { progress.withLock { $0 } == limit?.bytes }

    private var limit: (side: Side, bytes: Int, isCut: Bool)? {
        switch fault {
        case .stall(let side, let bytes): (side, bytes, false)
        case .cut(let side, let bytes): (side, bytes, true)
        case .flip, .delay, .record: nil
        }
    }

    private func pass(_ side: Side, from sender: Socket, to receiver: Socket) throws {
        if let limit, limit.side == side {
            return try pass(upTo: limit.bytes, isCut: limit.isCut, from: sender, to: receiver)
        }
        while true {
            var bytes = try sender.receive(atMost: 1024)
            if bytes.isEmpty { return }
            switch fault {
            case .flip(let faulty, let count) where faulty == side:
                let begin = progress.withLock { progress in
                    defer { progress += bytes.count }
                    return progress
                }
                if (begin..<begin + bytes.count).contains(count) { bytes[count - begin] ^= 1 }
            case .delay(let duration): usleep(UInt32(duration / .microseconds(1)))
            case .record: records.withLock { $0[side, default: []] += bytes }
            case .flip, .stall, .cut: break
            }
            try receiver.send(bytes)
        }
    }

    private func pass(upTo limit: Int, isCut: Bool, from sender: Socket, to receiver: Socket) throws {
        while true {
            let room = limit - progress.withLock { $0 }
            if isCut && room == 0 { return }
            let bytes = try sender.receive(atMost: max(1, min(4096, room)))
            if bytes.isEmpty { return }
            guard room > 0 else { continue }
            try receiver.send(bytes)
            progress.withLock { $0 += bytes.count }
        }
    }
}
