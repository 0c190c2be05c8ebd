import PeerSyncProtocol
import Synchronization

/// The connections of one engine that have said hello. Of two connections that two machines make to each other, it
/// keeps one.
///
/// Both sides decide by the same rule, each when it has the other's hello, so both end the same connection.
/// Connections in the same direction, and with other runs of the peer's program, stay beside each other.
final class Connections: Sendable {
    /// How many sessions one peer may have at a time: for several programs, and for connections that broke without
    /// either side noticing yet.
    static let limit = 16

    struct Entry: Sendable {
        fileprivate let peer: Int64
        fileprivate let instance: UInt64
        fileprivate let isPreferred: Bool
        fileprivate let session: PeerSession
    }

    private let entries = Mutex<[Entry]>([])
    /// Called after a connection has left.
    let observers = Registry<@Sendable () -> Void>()

    /// Adds a connection.
    ///
    /// - Parameter isPreferred: whether the connection goes in the direction that stays.
    /// - Throws: `duplicateConnection` when a connection in the other direction stays; `tooBusy` when the peer has as
    ///   many as it may have.
    func enter(_ session: PeerSession, peer: Int64, instance: UInt64, isPreferred: Bool) throws(ProtocolError)
        -> Entry
    {
        let entry = Entry(
            peer: peer, instance: instance, isPreferred: isPreferred, session: session)
        let opposite: [Entry]? = entries.withLock { entries in
            let opposite = entries.filter {
                $0.peer == peer && $0.instance == instance && $0.isPreferred != isPreferred
            }
            guard isPreferred || opposite.isEmpty else { return opposite }
            // The connections that this one replaces end soon, so they do not count.
            guard entries.count(where: { $0.peer == peer }) - opposite.count < Self.limit else { return nil }
            entries.append(entry)
            return opposite
        }
        guard let opposite else {
            throw ProtocolError(
                .tooBusy, "the two machines have \(Self.limit) connections already; try again later")
        }
        guard isPreferred || opposite.isEmpty else {
            throw ProtocolError(.duplicateConnection, "the two machines are connected already")
        }
        for other in opposite { other.session.stop() }
        return entry
    }

    func leave(_ entry: Entry) {
        entries.withLock { entries in entries.removeAll { $0.session === entry.session } }
        for onLeave in observers.elements { onLeave() }
    }

    /// Finds out soon whether the connections still work: those of one peer, or all.
    func probeAll(of peer: Int64? = nil) {
        for session in sessions(with: peer) { session.probe() }
    }

    /// The sessions with one peer, or all.
    func sessions(with peer: Int64?) -> [PeerSession] {
        entries.withLock { entries in
            entries.filter { peer == nil || $0.peer == peer }.map(\.session)
        }
    }

    /// Whether a peer has any connection.
    func hasAny(with peer: Int64) -> Bool {
        entries.withLock { entries in entries.contains { $0.peer == peer } }
    }
}
