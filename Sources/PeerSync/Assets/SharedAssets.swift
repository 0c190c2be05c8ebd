import Logging
import PeerSyncModel
import PeerSyncStore
import Synchronization

/// What the sessions of one engine share about files: which have come, which are gone, and which are intact.
final class SharedAssets: Sendable {
    /// The result of opening a file.
    enum Opening: Sendable {
        case file(OutgoingAsset)
        case missing
        /// The bytes had another hash, so the file was put aside.
        case damaged
    }

    /// The sessions to tell when files come or go.
    let sessions = Registry<AssetSession>()
    /// The versions of files that this run has hashed and found intact.
    private let intact = Mutex<[AssetHash: OutgoingAsset.Version]>([:])

    /// Tells the sessions that a file is here now.
    func arrived(_ hash: AssetHash) async {
        for session in sessions.elements { await session.arrived(hash) }
    }

    /// Tells the sessions that a file is gone.
    func lost() async {
        for session in sessions.elements { await session.lookAgain() }
    }

    /// Makes ``open(_:in:logger:)`` hash a file again, because it could not be read.
    func doubt(_ hash: AssetHash) { intact.withLock { $0[hash] = nil } }

    /// Opens a file for a peer, and puts a damaged one aside instead of passing it on.
    ///
    /// One bad file must not end a session. So an unreadable file counts as damaged. A file that cannot be put aside
    /// counts as missing: another session may have been faster.
    func open(_ hash: AssetHash, in directory: AssetDirectory, logger: Logger) async throws -> Opening {
        try await blocking { [self] in
            guard let file = directory.open(hash) else { return .missing }
            guard intact.withLock({ $0[hash] }) != file.version else { return .file(file) }
            do {
                guard try file.isIntact() else { return putAside(hash, in: directory, logger) }
            } catch {
                logger.warning("\(hash) cannot be read: \(error)")
                return putAside(hash, in: directory, logger)
            }
            intact.withLock { $0[hash] = file.version }
            return .file(file)
        }
    }

    private func putAside(_ hash: AssetHash, in directory: AssetDirectory, _ logger: Logger) -> Opening {
        do {
            try directory.setAside(hash)
            return .damaged
        } catch {
            logger.warning("\(hash) is damaged, and cannot be put aside: \(error)")
            return .missing
        }
    }
}
