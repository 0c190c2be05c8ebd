import ArgumentParser
import PeerSyncStore

struct Peers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List, rename or forget the machines this one is paired with, or say what they may do.",
        subcommands: [List.self, Forget.self, Rename.self, Grant.self, Revoke.self],
        defaultSubcommand: List.self)

    struct List: StoreCommand {
        static let configuration = CommandConfiguration(abstract: "List the paired machines (the default).")

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let peers = try await store.peerFigures()
            if output.json { return try Terminal.write(json: peers) }
            guard !peers.isEmpty else {
                return Terminal.write(
                    "no machine is paired with this one; `scorebook-peer listen --pair` begins")
            }
            PeerFigures.writeTable(peers)
        }
    }

    struct Forget: StoreCommand {
        static let configuration = CommandConfiguration(
            abstract: "End the pairing with a machine; the records stay.",
            discussion: """
                The machine is refused from now on; a session that is running ends. What it has already received stays \
                with it. With --erase, for a machine that leaves, everything that the two shared is removed here, \
                pictures too, without a backup; the other machine keeps it.
                """)

        @Argument(help: "The machine's name here, or the beginning of its key.")
        var name: String

        @Flag(help: "Also remove from this machine what the two shared.")
        var erase = false

        @Flag(help: "Erase without asking.")
        var yes = false

        @OptionGroup var storeOptions: StoreOptions

        func validate() throws {
            guard erase || !yes else { throw ValidationError("--yes goes with --erase") }
        }

        func run(_ store: OpenStore) async throws {
            let records = store.scorebook.records
            guard erase else {
                return Terminal.write("forgot \(try await records.peers.forget(name).name)")
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
            Terminal.write("forgot \(peer.name), and erased \(what)")
        }
    }

    struct Rename: StoreCommand {
        static let configuration = CommandConfiguration(
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
        let records = scorebook.records
        return try await records.database.read { db in
            try records.peers.all(db).map {
                PeerFigures(
                    $0, behind: try records.peers.behind(db, $0), try records.zones.grants(db, to: $0))
            }
        }
    }
}

/// A peer, for programs and tables.
struct PeerFigures: Encodable {
    let name: String
    let key: String
    let address: String?
    let connected: Bool
    let pairedAt: String
    let lastSeen: String?
    let lastSync: String?
    let lastError: String?
    let behind: Int
    /// The rights of the peer here, zone by zone.
    let zones: [ZoneGrantFigures]

    private static let header = ["NAME", "KEY", "LAST SEEN", "LAST IN SYNC", "BEHIND", "ADDRESS"]

    init(_ peer: Peer, behind: Int, _ grants: [ZoneGrant]) {
        name = peer.name
        key = peer.key
        address = peer.address
        connected = peer.isConnected
        pairedAt = peer.pairedAt
        lastSeen = peer.lastSeen
        lastSync = peer.lastSync
        lastError = peer.lastError
        self.behind = behind
        zones = grants.map(ZoneGrantFigures.init)
    }

    /// Writes a table. It has the rights if a peer has more than one zone.
    static func writeTable(_ peers: [PeerFigures]) {
        let hasZones = peers.contains { $0.zones.count > 1 }
        let rows = peers.map { peer in
            let granted = peer.zones.filter { $0.rights != "none" }
                .map { "\($0.zone) (\($0.rights))" }.joined(separator: ", ")
            return peer.row + (hasZones ? [granted.isEmpty ? "none" : granted] : [])
        }
        Terminal.write(aligned([header + (hasZones ? ["MAY USE"] : [])] + rows))
    }

    private var row: [String] {
        [
            name, String(key.prefix(16)), connected ? "connected" : lastSeen ?? "never", lastSync ?? "never",
            behind.grouped, address ?? "-",
        ]
    }

    enum CodingKeys: String, CodingKey {
        case name, key, address, connected, pairedAt, lastSeen, lastSync, lastError, behind, zones
    }

    /// Writes null for missing values, so that every object has the same keys.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(key, forKey: .key)
        try container.encode(address, forKey: .address)
        try container.encode(connected, forKey: .connected)
        try container.encode(pairedAt, forKey: .pairedAt)
        try container.encode(lastSeen, forKey: .lastSeen)
        try container.encode(lastSync, forKey: .lastSync)
        try container.encode(lastError, forKey: .lastError)
        try container.encode(behind, forKey: .behind)
        try container.encode(zones, forKey: .zones)
    }
}
