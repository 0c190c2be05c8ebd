import PeerSyncModel
import PeerSyncStore
import Synchronization

/// The names of machines and zones at this moment, for events: people may change them while sessions run.
final class CurrentNames: Sendable {
    private struct Names {
        var peers: [Int64: String] = [:]
        var zones: [ZoneID: String] = [:]
    }

    private let names = Mutex(Names())

    /// Notes what the store has just said.
    func note(_ peer: Peer, _ zones: [Zone]) {
        names.withLock { names in
            names.peers[peer.id] = peer.name
            for zone in zones { names.zones[zone.id] = zone.name }
        }
    }

    /// The name of a machine; the one that it had before if nobody has noted any since.
    func of(_ peer: Peer) -> String { names.withLock { $0.peers[peer.id] ?? peer.name } }

    /// The name of a zone; the one that it had before if nobody has noted any since.
    func of(_ zone: Zone) -> String { names.withLock { $0.zones[zone.id] ?? zone.name } }
}
