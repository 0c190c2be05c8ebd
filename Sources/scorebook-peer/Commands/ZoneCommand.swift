import ArgumentParser
import PeerSync
import Scorebook

struct ZoneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "zone",
        abstract:
            "Make, list, use, rename, delete or accept zones: scorebooks of their own beside the one that every store has.",
        discussion: """
            Machines that are paired share the default zone. Another zone goes only to the machines that it is granted \
            to:

              scorebook-peer zone create club
              scorebook-peer zone use club
              scorebook-peer game add Hearts
              scorebook-peer peers grant study club read
            """,
        subcommands: [
            List.self, Create.self, Use.self, Rename.self, Delete.self, Accept.self, Restore.self,
        ],
        defaultSubcommand: List.self)

    struct List: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the zones, and who may do what in them (the default).")

        @Flag(name: .shortAndLong, help: "Also show owners and digests.")
        var verbose = false

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let records = store.scorebook.records
            try await store.scorebook.foldForReading()
            let zones = try await records.database.read { db in
                let peers = try records.peers.all(db).map { ($0.name, try records.zones.grants(db, to: $0)) }
                return try records.zones.all(db).map { zone in
                    ZoneListing(
                        figures: ZoneFigures(zone),
                        peers: peers.compactMap { name, grants in
                            let rights = grants.first { $0.zone == zone.name }?.rights ?? .none
                            return rights == .none ? nil : .init(peer: name, rights: rights.name)
                        })
                }
            }
            if output.json { return try Terminal.write(json: zones) }
            let inUse = try await store.scorebook.zoneInUse()?.name ?? zones.first?.figures.name
            Terminal.write(
                aligned(
                    [ZoneListing.header(isVerbose: verbose)]
                        + zones.map { $0.row(inUse: inUse, isVerbose: verbose) }))
        }
    }

    struct Create: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Make a zone.",
            discussion: "No other machine has it before `peers grant` lets it have it.")

        @Argument(help: "What it is called: letters, digits and other printable ASCII.")
        var name: String

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let zone = try await store.scorebook.records.zones.create(name)
            try output.write(ZoneFigures(zone), "created the zone “\(zone.name)”")
        }
    }

    struct Rename: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "rename",
            abstract: "Call a zone something else, here only.",
            discussion: "It stays the same zone: other machines go on calling it what they call it.")

        @Argument(help: "The zone's name here.")
        var name: String

        @Argument(help: "The new name.")
        var newName: String

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let records = store.scorebook.records
            try await records.zones.rename(name, to: newName)
            let zone = try await records.zones.find(named: newName)
            try output.write(ZoneFigures(zone), "renamed to “\(zone.name)”")
        }
    }

    struct Restore: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Give up what other machines have refused in a zone, and take what they have.",
            discussion: """
                A machine that lets this one only read refuses what is written here; `status` shows it. This command \
                forgets those changes. The next sync brings back what the other machines have of the records; records \
                that only this machine has are gone.
                """)

        @Argument(help: "The zone's name here.")
        var name: String

        @Flag(help: "Restore without asking.")
        var yes = false

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let records = store.scorebook.records
            let zone = try await records.zones.find(named: name)
            let refused = Set(
                try await records.refusals.all().filter { $0.zone == zone.name }.map(\.name)
            ).sorted()
            guard !refused.isEmpty else {
                return try output.write([String](), "nothing of the zone “\(zone.name)” was refused")
            }
            if !yes {
                let listed = try await refused.listed(store)
                let what = "\(refused.count.counted("record")) of the zone “\(zone.name)”"
                let question = "Give up what was written here to \(what) (\(listed))?"
                guard let answer = await Terminal.confirm(question) else {
                    throw Failure(
                        ExitCode(64),
                        "giving up what was written here to \(what) (\(listed)) needs --yes when nobody "
                            + "can be asked")
                }
                guard answer else { throw Failure(.temporaryFailure, "nothing was changed") }
            }
            let what = try await refused.listed(store)
            let given = try await records.database.write { try records.refusals.giveUp($0, in: zone) }
            try output.write(
                given,
                "gave up what was written here to \(what); the next sync brings back what the other "
                    + "machines have")
        }
    }
}

/// A zone, for programs.
struct ZoneFigures: Encodable {
    let name: String
    /// The id of the zone, the same on every machine.
    let id: String
    let owner: String
    let records: Int
    let digest: String
    let shared: Bool

    init(_ zone: Zone) {
        name = zone.name
        id = zone.id.description
        owner = zone.id.owner.description
        records = Int(clamping: zone.digest.count)
        digest = zone.digest.hex
        shared = zone.isShared
    }
}

/// A zone, and the rights of peers in it.
private struct ZoneListing: Encodable {
    struct Grant: Encodable {
        let peer: String
        let rights: String
    }

    let figures: ZoneFigures
    let peers: [Grant]

    static func header(isVerbose: Bool) -> [String] {
        ["", "NAME", "RECORDS", "SHARED", "GRANTED TO"] + (isVerbose ? ["OWNER", "DIGEST"] : [])
    }

    /// - Parameter inUse: the name of the zone in use, which has a star.
    func row(inUse: String?, isVerbose: Bool) -> [String] {
        [
            figures.name == inUse ? "*" : "", figures.name, figures.records.grouped,
            figures.shared ? "yes" : "no",
            peers.isEmpty ? "nobody" : peers.map { "\($0.peer) (\($0.rights))" }.joined(separator: ", "),
        ] + (isVerbose ? [String(figures.owner.prefix(8)), figures.digest] : [])
    }

    private enum CodingKeys: String, CodingKey { case peers }

    /// Writes the keys of the zone, and `peers` beside them.
    func encode(to encoder: any Encoder) throws {
        try figures.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(peers, forKey: .peers)
    }
}

extension [RecordName] {
    /// The first five of them, as people call them, and the number of the others.
    fileprivate func listed(_ store: OpenStore) async throws -> String {
        let shown = 5
        var phrases: [String] = []
        for name in prefix(shown) { phrases.append(try await store.scorebook.phrase(for: name)) }
        let list = phrases.joined(separator: ", ")
        return count > shown ? "\(list) and \((count - shown).grouped) more" : list
    }
}
