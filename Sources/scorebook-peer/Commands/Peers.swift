import ArgumentParser
import GRDB
import PeerSync
import PeerSyncMailbox
import Scorebook

struct Peers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers",
        abstract: "List, rename or forget the machines this one is paired with, or say what they may do.",
        subcommands: [
            List.self, Household.self, Introduce.self, Forget.self, Rename.self, Grant.self, Revoke.self,
        ],
        defaultSubcommand: List.self)

    struct List: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the paired machines, and those that are found and not paired (the default).",
            discussion:
                "Looks for about a second for what is on this network. JSON has the paired machines only.")

        @Flag(name: .customLong("no-discovery"), help: "Do not look for machines on this network.")
        var usesNoDiscovery = false

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        @Flag(name: .shortAndLong, help: "Also show keys.")
        var verbose = false

        func run(_ store: OpenStore) async throws {
            let peers = try await store.peerFigures()
            if output.json { return try Terminal.write(json: peers) }
            let found = try await machines(store)
            if peers.isEmpty {
                Terminal.write("no machine is paired with this one; `scorebook-peer pair` begins")
            } else {
                PeerFigures.writeTable(
                    peers, store.scorebook.time, isVerbose: verbose, found: Set(found.compactMap(\.peer)))
            }
            for machine in found where machine.peer == nil { Terminal.write("found: \(machine.text)") }
        }

        /// What is on this network; nothing if that cannot be found out.
        private func machines(_ store: OpenStore) async throws -> [FoundMachine] {
            guard !usesNoDiscovery else { return [] }
            let engine = SyncEngine(
                app: .scorebook, store: store.scorebook.records, identity: store.identity, displayName: "",
                discovery: .scorebook(announces: false))
            do {
                return try await engine.machines(within: .seconds(1))
            } catch let error as PeerSyncError where error.code == .noDiscovery {
                return []
            }
        }
    }

    struct Forget: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "forget",
            abstract: "End the pairing with a machine; the records stay.",
            discussion: """
                The machine is refused from now on, on this machine only; a session that is running ends. What it has \
                already received stays with it. No other machine can introduce it here again: only pairing the two \
                does. With --everywhere, for a machine that is lost or given away, all machines of the household \
                refuse it as soon as they hear of it, and only a new pairing with one of them brings it back. With \
                --erase, for a machine that leaves, everything that the two shared is removed here, pictures too, \
                without a backup; the other machine keeps it.
                """)

        @Argument(help: "The machine's name here, or the beginning of its key.")
        var name: String

        @Flag(help: "Remove it from the household: all other machines refuse it, too.")
        var everywhere = false

        @Flag(help: "Also remove from this machine what the two shared.")
        var erase = false

        @Flag(help: "Erase, or remove everywhere, without asking.")
        var yes = false

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard erase || everywhere || !yes else {
                throw ValidationError("--yes goes with --erase or --everywhere")
            }
            guard !(erase && everywhere) else {
                throw ValidationError("--everywhere and --erase are two steps: give one, then the other")
            }
        }

        func run(_ store: OpenStore) async throws {
            guard !everywhere else { return try await removeEverywhere(store) }
            let records = store.scorebook.records
            guard erase else {
                let peer = try await records.peers.forget(name)
                return try output.write(["forgot": peer.name], "forgot \(peer.name)")
            }
            try await records.foldPendingChanges()
            let plan = try await records.peers.zonesToErase(whenForgetting: name)
            let what = plan.map { "\($0.name) (\(Int($0.digest.count).counted("record")))" }
                .joined(separator: ", ")
            if !yes {
                guard let answer = await Terminal.confirm("Forget \(name), and erase here \(what)?") else {
                    throw Failure(ExitCode(64), "erasing \(what) needs --yes when nobody can be asked")
                }
                guard answer else { throw Failure(.temporaryFailure, "nothing was changed") }
            }
            let peer = try await records.peers.forget(name, erasing: plan)
            try output.write(["forgot": peer.name], "forgot \(peer.name), and erased \(what)")
        }

        private func removeEverywhere(_ store: OpenStore) async throws {
            let household = store.scorebook.records.household
            let member = try await household.member(name)
            let brought = try await household.members().filter {
                $0.introducedBy == member.publicKey && $0.relation != .own
            }
            if !brought.isEmpty, !output.json {
                Terminal.write(
                    "\(member.name) introduced \(brought.map(\.name).joined(separator: ", ")); they stay")
            }
            if !yes {
                let question = "Remove \(member.name) from the household, so that every machine refuses it?"
                guard let answer = await Terminal.confirm(question) else {
                    throw Failure(
                        ExitCode(64),
                        "removing \(member.name) everywhere needs --yes when nobody can be asked")
                }
                guard answer else { throw Failure(.temporaryFailure, "nothing was changed") }
            }
            let removed = try await household.remove(member.key, by: store.identity.publicKey.bytes)
            try output.write(
                ["removed": removed.name],
                "removed \(removed.name) from the household; the others refuse it when they have heard of it, and it "
                    + "keeps what it has")
        }
    }

    struct Rename: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "rename",
            abstract: "Call a paired machine something else, here only.")

        @Argument(help: "The machine's name here, or the beginning of its key.")
        var name: String

        @Argument(help: "The new name.")
        var newName: String

        @OptionGroup var storeOptions: StoreOptions

        func validate() throws {
            guard (1...64).contains(newName.utf8.count) else {
                throw ValidationError("a name has 1 to 64 bytes")
            }
            guard newName == Display.printable(newName) else {
                throw ValidationError("a name has no line breaks or other control characters")
            }
        }

        func run(_ store: OpenStore) async throws {
            try await store.scorebook.records.peers.rename(name, to: newName)
            Terminal.write("renamed to \(newName)")
        }
    }
}

extension OpenStore {
    /// Returns the paired machines, sorted by name.
    func peerFigures() async throws -> [PeerFigures] {
        try await scorebook.records.database.read { try peerFigures($0) }
    }

    /// The same, as part of a transaction.
    func peerFigures(_ db: Database) throws -> [PeerFigures] {
        let records = scorebook.records
        let lastHeard = try records.mailboxes.all(db).lastHeard
        return try records.peers.all(db).map { peer in
            let introducer = try peer.introducedBy.map { try records.household.name(db, of: $0) }
            return PeerFigures(
                peer, introducedBy: introducer, lastHeard: lastHeard[peer.name],
                try records.peers.zones(db, of: peer))
        }
    }
}

/// A peer, for programs and tables.
struct PeerFigures: Encodable {
    let name: String
    let key: String
    @OrNull var address: String?
    let connected: Bool
    let pairedAt: String
    /// What the machine is called that introduced this one; nil if the two were paired.
    @OrNull var introducedBy: String?
    @OrNull var lastSeen: String?
    @OrNull var lastSync: String?
    /// When it was last heard of through a mailbox; nil for never.
    @OrNull var lastHeard: String?
    @OrNull var lastError: String?
    @OrNull var lastErrorCode: String?
    /// Whether it waits for what it is behind: ``/PeerSyncStore/Peer/awaitsChanges``.
    let awaitsChanges: Bool
    let behind: Int
    /// How it stands in each zone.
    let zones: [PeerZoneFigures]

    init(_ peer: Peer, introducedBy: String?, lastHeard: String?, _ zones: [PeerZoneStatus]) {
        self.introducedBy = introducedBy
        self.lastHeard = lastHeard
        name = peer.name
        key = peer.key
        address = peer.address
        connected = peer.isConnected
        pairedAt = peer.pairedAt
        lastSeen = peer.lastSeen
        lastSync = peer.lastSync
        lastError = peer.lastError
        lastErrorCode = peer.lastErrorCode?.description
        awaitsChanges = peer.awaitsChanges
        behind = zones.reduce(0) { $0 + $1.pending }
        self.zones = zones.map(PeerZoneFigures.init)
    }

    /// Writes a table. It has the rights if a peer has more than one zone, the introducers if there are any, and when each was heard of
    /// through a mailbox if one was.
    ///
    /// - Parameters:
    ///   - time: the clock of the reader.
    ///   - isVerbose: whether to show keys.
    ///   - found: the names of those that are on this network.
    static func writeTable(
        _ peers: [PeerFigures], _ time: LocalTime, isVerbose: Bool, found: Set<String> = []
    ) {
        let hasIntroducers = peers.contains { $0.introducedBy != nil }
        let hasMailbox = peers.contains { $0.lastHeard != nil }
        let hasZones = peers.contains { $0.zones.count > 1 }
        let rows = peers.map { peer in
            let granted = peer.zones.filter { $0.rights != "none" }
                .map { "\($0.zone) (\($0.rights))" }.joined(separator: ", ")
            return peer.row(time, isVerbose, isFound: found.contains(peer.name))
                + (hasMailbox ? [peer.lastHeard.map(time.text) ?? "never"] : [])
                + (hasIntroducers ? [peer.introducedBy ?? "-"] : [])
                + (hasZones ? [granted.isEmpty ? "none" : granted] : [])
        }
        let header =
            ["NAME"] + (isVerbose ? ["KEY"] : []) + ["LAST SEEN", "LAST IN SYNC", "BEHIND", "ADDRESS"]
        let titles =
            header + (hasMailbox ? ["IN MAILBOX"] : []) + (hasIntroducers ? ["INTRODUCED BY"] : [])
            + (hasZones ? ["MAY USE"] : [])
        let table = aligned([titles] + rows)
        let isTooWide = table.split(separator: "\n").contains { Display.width(String($0)) > Terminal.width }
        guard isTooWide else { return Terminal.write(table) }
        // Half a date says nothing, so each machine gets lines of its own.
        for row in rows {
            let lines = zip(titles, row).dropFirst().map { [$0.lowercased(), $1] }
            Terminal.write(Display.printable(row[0]))
            Terminal.write(alignedTexts(lines, to: Terminal.width, indentation: 2))
        }
    }

    private func row(_ time: LocalTime, _ isVerbose: Bool, isFound: Bool) -> [String] {
        [name] + (isVerbose ? [String(key.prefix(16))] : []) + [
            connected ? "connected" : isFound ? "found" : lastSeen.map(time.text) ?? "never",
            lastSync.map(time.text) ?? "never",
            awaitsChanges ? behind.grouped : "-", address ?? "-",
        ]
    }
}
