import Foundation
import NIOPosix
import PeerSync
import PeerSyncMailbox
import Scorebook

/// A look at this machine, its scorebook and its peers. It gathers facts and judges nothing, and it writes nothing.
struct Examination: Sendable {
    let directory: URL
    let port: Int

    private var database: String { directory.appendingPathComponent("scorebook.sqlite").path }
    private var keyFile: URL { directory.appendingPathComponent(Identity.fileName) }

    /// Gathers the facts.
    ///
    /// - Parameter machine: the name or address of the machine that the question is about; nil for all paired machines.
    func facts(about machine: String?) async throws -> DiagnosticFacts {
        let (key, identity) = readKey()
        // Who has no key of his own yet is nobody to the others, but still finds out whether somebody answers.
        let own = identity ?? .generate()
        let (state, scorebook) = await readStore(own)
        let records = try (scorebook ?? ScorebookSnapshot.empty(replica: own.replicaID)).records
        let engine = SyncEngine(
            app: .scorebook, store: records, identity: own, displayName: SyncEngine.hostName,
            discovery: .scorebook(announces: false))
        let probe = PeerProbe(engine)
        let peers = try await records.peers.all()
        // What is wrongly typed is said at once.
        let wanted = try self.wanted(machine, peers, hasKey: identity != nil)
        async let found = self.found(by: engine)
        let machines = try await found
        let network = try await NetworkFacts.observed(
            port: port, database: database, ports: try await scorebook?.records.pairing.listeningPorts(),
            firewall: { port in
                try await NIOThreadPool.singleton.runIfActive { Firewalls.look(port: port) }
            },
            discovery: machines == nil ? .missing(name: Self.discoveryName) : .running, probe: probe)
        var known: [PeerPlace] = []
        for peer in peers {
            known.append(PeerPlace(peer, machines ?? [], lastError: await scorebook?.lastError(of: peer)))
        }
        let places: [PeerPlace] =
            switch wanted {
            case .everybody: known
            case .paired(let number): [known[number]]
            case .at(let address): [PeerPlace(address)]
            case .nobody: []
            }
        return DiagnosticFacts(
            now: RecordStore.wallClock(), store: storeFacts(state, key), network: network,
            peers: await PeerExamination(probe: probe, known: known).facts(places),
            mailboxes: try await records.mailboxes.all().map(MailboxFacts.init))
    }

    // MARK: The store

    private func readKey() -> (StoreFacts.Key, Identity?) {
        do {
            guard let identity = try Identity.load(at: keyFile) else { return (.missing, nil) }
            return (.good, identity)
        } catch let error as PeerSyncError {
            return (.unusable(error.code), nil)
        } catch {
            return (.unusable(.storeUnusable), nil)
        }
    }

    private func readStore(_ identity: Identity) async -> (StoreFacts.State, ScorebookStore?) {
        let files = FileManager.default
        guard files.fileExists(atPath: database) else {
            let isHidden =
                files.fileExists(atPath: directory.path) && !files.isReadableFile(atPath: directory.path)
            return (isHidden ? .unreadable(path: directory.path) : .missing, nil)
        }
        guard files.isReadableFile(atPath: database) else { return (.unreadable(path: database), nil) }
        do {
            let scorebook = try await NIOThreadPool.singleton.runIfActive { [database] in
                try ScorebookSnapshot.open(at: database, replica: identity.replicaID)
            }
            let records = scorebook.records
            try await records.foldPendingChanges()
            let content = try await records.database.read {
                StoreContent(try records.status($0), try records.upkeep.check($0))
            }
            return (.read(content), scorebook)
        } catch let error as RecordStoreError where error.code == .newerFormat {
            return (.newer, nil)
        } catch let error as RecordStoreError where [.corrupt, .damagedRecord].contains(error.code) {
            return (.damaged, nil)
        } catch {
            return (.unusable, nil)
        }
    }

    private func storeFacts(_ state: StoreFacts.State, _ key: StoreFacts.Key) -> StoreFacts {
        var disk = statvfs()
        let isKnown = statvfs(directory.path, &disk) == 0
        let unwritable = [directory.path, database].filter {
            FileManager.default.fileExists(atPath: $0) && access($0, W_OK) != 0 && errno != EROFS
        }
        return StoreFacts(
            directory: directory.path, database: database, keyFile: keyFile.path, state: state, key: key,
            unwritable: unwritable,
            bytesLeft: isKnown ? Int64(disk.f_bavail) * Int64(disk.f_frsize) : nil,
            // ST_RDONLY on every system that has statvfs.
            isReadOnlyDisk: isKnown && disk.f_flag & 1 != 0)
    }

    // MARK: The machines

    /// The machines that the question is about.
    private enum Wanted {
        case everybody
        /// One of the paired machines, by its number in their list.
        case paired(Int)
        case at(PeerAddress)
        /// A name that may be that of a paired machine: without the key, the store does not say who is paired.
        case nobody
    }

    private func wanted(_ machine: String?, _ peers: [Peer], hasKey: Bool) throws -> Wanted {
        guard let machine else { return .everybody }
        if let number = peers.number(named: machine) { return .paired(number) }
        if !hasKey, !machine.contains(where: { ".:".contains($0) }) { return .nobody }
        guard let address = PeerAddress(machine) else {
            throw Failure(
                .validationFailure,
                "“\(machine)” is no machine that is paired with this one, and no address; `peers` lists the machines"
            )
        }
        let number = peers.firstIndex { $0.address.flatMap { PeerAddress($0) } == address }
        return number.map(Wanted.paired) ?? .at(address)
    }

    /// The machines that announce themselves; nil if the system's service for that cannot be used.
    private func found(by engine: SyncEngine) async throws -> [FoundMachine]? {
        do {
            return try await engine.machines()
        } catch let error as PeerSyncError where error.code == .noDiscovery {
            return nil
        }
    }

    /// The system's service that announces machines: Bonjour is part of macOS, and Avahi has its place elsewhere.
    private static var discoveryName: String {
        #if canImport(Darwin)
            "Bonjour"
        #else
            "Avahi"
        #endif
    }
}

extension MailboxFacts {
    fileprivate init(_ entry: MailboxEntry) {
        self.init(
            name: entry.name, wasInStep: entry.lastSync != nil, failure: entry.trouble,
            heard: Set(entry.machines.map(\.name)),
            unreadable: Dictionary(
                uniqueKeysWithValues: entry.machines.filter(\.isUnreadable).map {
                    ($0.name, entry.trouble(of: $0) ?? "")
                }))
    }
}

extension MailboxEntry.Machine {
    /// Whether what it left cannot be read on, and not only has not come yet.
    fileprivate var isUnreadable: Bool {
        problem != nil && problemCode != MailboxError.Code.waiting.description
    }
}
