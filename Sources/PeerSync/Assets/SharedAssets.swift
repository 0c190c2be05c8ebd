import Logging
import RecordStore
import SyncModel
import Synchronization

/// What the sessions of one engine know of files together: which have come, for those whose peers wait for them, and
/// which were found damaged.
final class SharedAssets: Sendable {
    /// What opening a file came to.
    enum Opening: Sendable {
        case file(OutgoingAsset)
        case missing
        /// Its bytes were not those of its hash, so it was put aside.
        case damaged
    }

    /// Those that hear of files that come and go.
    let sessions = Registry<AssetSession>()
    /// Files that were held against their hash in this run.
    private let intact = Mutex<[AssetHash: OutgoingAsset.Version]>([:])

    /// A file is here now.
    func arrived(_ hash: AssetHash) async {
        for session in sessions.elements { await session.arrived(hash) }
    }

    /// A file is not here any more.
    func lost() async {
        for session in sessions.elements { await session.lookAgain() }
    }

    /// A file could not be read; it is held against its hash again before anybody gets it.
    func doubt(_ hash: AssetHash) { intact.withLock { $0[hash] = nil } }

    /// Opens a file to be given to a peer, if it is whole; one that is not is never passed on.
    ///
    /// One file that makes trouble is no reason to end a session: what cannot be read is damaged, and what cannot be put
    /// aside, as when another session was faster, is missing.
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
