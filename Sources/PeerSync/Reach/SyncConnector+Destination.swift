import PeerSyncChannel
import PeerSyncStore

extension SyncConnector {
    /// The end of a connection that a connector makes.
    enum Destination: Sendable, CustomStringConvertible {
        case address(PeerAddress, ExpectedMachine)
        /// A paired machine, wherever it is found, at its last address, or at one that somebody typed.
        case peer(Peer, typed: PeerAddress?, Finder)
        /// A paired machine where somebody announces it.
        case announced(Peer, PeerAddress)
        /// An address where one of some machines may be, by their keys.
        case remembered(PeerAddress, keys: @Sendable () -> [PublicKey])
        case engine(SyncEngine)

        /// What looks for the machine, if anything does.
        var finder: Finder? {
            if case .peer(_, _, let finder) = self { finder } else { nil }
        }

        var description: String {
            switch self {
            case .address(let address, _), .announced(_, let address), .remembered(let address, _):
                address.description
            case .peer(let peer, _, _): peer.name
            case .engine: InProcessAnswer.address
            }
        }
    }
}
