import Foundation
import NIOCore
import NIOPosix
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore

/// A call that finds out who listens at an address, and whether the two machines would greet each other.
///
/// It goes as far as the greeting, and then says goodbye. So it exchanges no records and asks nobody anything, and it writes
/// nothing here. The other machine notes it as a connection that ended early.
public struct PeerProbe: Sendable {
    /// Why no connection came about.
    public enum Unreachable: Sendable, Equatable {
        /// The machine answered that nothing listens there, or a firewall said so for it.
        case refused
        /// Nothing answered in time.
        case noAnswer
        /// No network leads there, or the network says that no such machine is there.
        case noRoute
        /// This machine does not let the program connect there.
        case forbidden
        /// No machine of that name is known.
        case unknownName
    }

    /// What the other machine said in its greeting.
    public struct Hello: Sendable, Equatable {
        /// The zones that both may have.
        public enum Sharing: Sendable, Equatable {
            /// Neither may have a zone of the other.
            case nothing
            /// The default zones differ, and both hold records, so somebody has to say what becomes of them.
            case toBeDecided
            /// At least one zone.
            case something
        }

        /// How far its clock is ahead of this machine's, in milliseconds; negative when it is behind.
        public var clockAhead: Int64
        /// The zones that both may have.
        public var sharing: Sharing

        /// Makes a greeting; see the properties.
        public init(clockAhead: Int64, sharing: Sharing) {
            self.clockAhead = clockAhead
            self.sharing = sharing
        }
    }

    /// A machine that has proved who it is.
    public struct Answer: Sendable, Equatable {
        /// What it answered to this machine's greeting.
        public enum Greeting: Sendable, Equatable {
            /// It greeted back.
            case hello(Hello)
            /// It refused, or did not know this machine.
            case refused(PeerSyncError.Code)
        }

        /// Its public key.
        public var key: [UInt8]
        /// Whether it has this machine's own key.
        public var isSelf: Bool
        /// What it answered to this machine's greeting.
        public var greeting: Greeting

        /// Makes an answer; see the properties.
        public init(key: [UInt8], isSelf: Bool, greeting: Greeting) {
            self.key = key
            self.isSelf = isSelf
            self.greeting = greeting
        }
    }

    /// What came of a call.
    public enum Outcome: Sendable, Equatable {
        /// No connection came about.
        case unreachable(Unreachable)
        /// The other side is no peer of this app: `noPeer`, `otherApp`, `incompatible`, `interrupted`, `timeout`.
        case stranger(PeerSyncError.Code)
        /// A peer answered.
        case machine(Answer)
    }

    /// How long making a connection may take, and everything after it.
    static let patience: Duration = .seconds(5)

    private let engine: SyncEngine

    /// - Parameter engine: the engine of this machine, on a store or on a copy of it in memory.
    public init(_ engine: SyncEngine) {
        self.engine = engine
    }

    /// Calls an address, and tells what came of it, within some seconds.
    public func call(_ address: PeerAddress) async -> Outcome {
        let connection: ByteChannel
        do {
            connection = try await Dialing.connection(to: address, within: Self.patience)
        } catch {
            return .unreachable(Unreachable(error))
        }
        let isLate = connection.channel.eventLoop.scheduleTask(in: TimeAmount(Self.patience)) {
            connection.channel.close(promise: nil)
        }
        let begin = ContinuousClock.now
        do {
            defer { isLate.cancel() }
            return .machine(
                try await connection.executeThenClose { inbound, outbound in
                    try await converse(inbound, outbound)
                })
        } catch {
            let isOverdue = ContinuousClock.now - begin >= Self.patience
            return .stranger(isOverdue ? .timeout : Self.code(error))
        }
    }

    private func converse(
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws -> Answer {
        var bytes = InboundBytes(inbound)
        let (ciphers, frames, _) = try await Handshake.run(
            .initiator, app: engine.app, identity: engine.identity, reader: &bytes, outbound: outbound)
        let key = ciphers.remoteStatic
        var line = ProbeLine(
            reader: MessageReader(bytes, MessageDecoder(frames, ciphers.receive)),
            encoder: MessageEncoder(ciphers.send), outbound: outbound)
        let isSelf = key == engine.identity.publicKey
        guard !isSelf, let peer = try await engine.store.peers.find(key: key.bytes) else {
            try await line.send(.goodbye)
            return Answer(
                key: key.bytes, isSelf: isSelf, greeting: .refused(isSelf ? .sameIdentity : .notPaired))
        }
        // From now on the other side may send what only a peer may.
        line.reader.limit = ProtocolLimits.maximumMessage
        return Answer(key: key.bytes, isSelf: false, greeting: try await greet(peer, &line))
    }

    private func greet(_ peer: Peer, _ line: inout ProbeLine) async throws -> Answer.Greeting {
        let (offers, held, declined) = try await engine.offers(to: peer)
        let begin = engine.store.now()
        // It offers the zones as a session does, and never opens one.
        try await line.send(
            .hello(
                Message.Hello(
                    minorVersion: ProtocolLimits.minorVersion, replica: engine.store.replica,
                    instance: engine.instance, displayName: engine.displayName, clock: begin, zones: offers)))
        switch try await line.reader.next() {
        case .hello(let hello)?:
            let end = engine.store.now()
            try? await line.send(.goodbye)
            let ownTime = begin + (end - begin) / 2
            return .hello(
                Hello(
                    clockAhead: hello.clock - ownTime,
                    sharing: Self.sharing(offers, hello.zones, held.union(declined))))
        case .error(let error)?: return .refused(PeerSyncError(error).code)
        case nil, .goodbye?: return .refused(.interrupted)
        default: return .refused(.protocolViolation)
        }
    }

    /// What a session would make of two lists of offers.
    static func sharing(_ own: [ZoneOffer], _ theirs: [ZoneOffer], _ held: Set<ZoneID>)
        -> Hello.Sharing
    {
        if !Set(own.map(\.id)).isDisjoint(with: theirs.map(\.id)) { return .something }
        if let meeting = ZoneMeeting(caller: own, listener: theirs), meeting.isFirst {
            return meeting.isPlain ? .something : .toBeDecided
        }
        // A zone that one side lacks is taken up without a question.
        return theirs.contains { !$0.isDefault && !held.contains($0.id) } || own.contains { !$0.isDefault }
            ? .something : .nothing
    }

    private static func code(_ error: any Error) -> PeerSyncError.Code {
        switch error {
        case let error as PeerSyncError: error.code
        case let error as SecureChannelError: error.code == .authenticationFailed ? .otherApp : .noPeer
        case let error as ProtocolError where error.code == .malformed: .noPeer
        case let error as ProtocolError: PeerSyncError(error).code
        default: .interrupted
        }
    }
}

/// The messages of a probe.
private struct ProbeLine {
    var reader: MessageReader
    var encoder: MessageEncoder
    let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>

    mutating func send(_ message: Message) async throws {
        encoder.begin(message)
        while let frame = try encoder.nextFrame() { try await outbound.write(frame) }
    }
}

extension PeerProbe.Unreachable {
    init(_ error: any Error) {
        switch ConnectionFailure.cause(error) {
        case let error as IOError where error.errnoCode == ECONNREFUSED: self = .refused
        case let error as IOError where [EACCES, EPERM].contains(error.errnoCode): self = .forbidden
        case let error as IOError where error.errnoCode == ETIMEDOUT: self = .noAnswer
        case is IOError, is ConnectionFailure.NoPort: self = .noRoute
        case is NIOConnectionError, is SocketAddressError: self = .unknownName
        default: self = .noAnswer
        }
    }
}
