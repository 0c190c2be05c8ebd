import SyncProtocol
import Synchronization

/// The connections of one engine that have said hello, so that two machines that dial each other keep one of the two.
///
/// Both sides decide by the same rule, each when it has the other's hello; whichever comes first ends the same one.
/// Connections in the same direction, and with other runs of the peer's program, stand beside each other.
final class Connections: Sendable {
    /// How many sessions one peer may have at a time: some of its programs, and some that were cut off and that nobody has
    /// noticed yet.
    static let limit = 16

    struct Entry: Sendable {
        fileprivate let id: ObjectIdentifier
        fileprivate let peer: Int64
        fileprivate let instance: UInt64
        fileprivate let isPreferred: Bool
        fileprivate let session: PeerSession
    }

    private let entries = Mutex<[Entry]>([])

    /// Takes a connection in.
    ///
    /// - Parameter isPreferred: whether it goes in the direction that stays.
    /// - Throws: `duplicateConnection` when there is one in the other direction and that stays; `tooBusy` when there are
    ///   as many as may be.
    func enter(_ session: PeerSession, peer: Int64, instance: UInt64, isPreferred: Bool) throws(ProtocolError)
        -> Entry
    {
        let entry = Entry(
            id: ObjectIdentifier(session), peer: peer, instance: instance, isPreferred: isPreferred,
            session: session)
        let opposite: [Entry]? = entries.withLock { entries in
            let opposite = entries.filter {
                $0.peer == peer && $0.instance == instance && $0.isPreferred != isPreferred
            }
            guard isPreferred || opposite.isEmpty else { return opposite }
            // Those that this one replaces are about to end.
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
        entries.withLock { entries in entries.removeAll { $0.id == entry.id } }
    }

    /// Whether there is any with a peer.
    func hasAny(with peer: Int64) -> Bool {
        entries.withLock { entries in entries.contains { $0.peer == peer } }
    }
}
