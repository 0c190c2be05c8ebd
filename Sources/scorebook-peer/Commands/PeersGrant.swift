import ArgumentParser
import PeerSync

// The engine knows no command lines, and nobody links this program, so nobody else can add the same conformance.
// swift-format-ignore: AvoidRetroactiveConformances
extension ZoneRights: @retroactive ExpressibleByArgument {
    public init?(argument: String) {
        guard let rights = Self.all.first(where: { $0.name == argument }) else { return nil }
        self = rights
    }

    public static var allValueStrings: [String] { all.map(\.name) }

    private static let all: [ZoneRights] = [.read, .write, .none]

    /// The name that people type.
    var name: String {
        switch self {
        case .none: "none"
        case .read: "read"
        case .write: "write"
        }
    }
}

extension Peers {
    struct Grant: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "grant",
            abstract: "Say what a machine may do in a zone of this one.",
            discussion: """
                With write it gets the records, and what it writes counts here; with read it gets the records, and what \
                it writes is refused; with none it gets nothing. Paired machines may write in the default zone, and \
                have nothing of others, unless this command says otherwise. Two machines exchange a zone when each \
                lets the other have it; one that does not have the zone yet takes it up. Running sessions go by the \
                change at once.
                """)

        @Argument(help: "The machine's name here, or the beginning of its key.")
        var name: String

        @Argument(help: "The zone's name here.")
        var zone: String

        @Argument(help: ArgumentHelp("What it may do: read, write or none.", valueName: "read|write|none"))
        var rights: ZoneRights

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            try await GrantFigures(store, rights, to: name, in: zone).write(output)
        }
    }

    struct Revoke: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract: "Let a machine have nothing of a zone any more.",
            discussion: """
                The exchange of the zone stops at once, also in sessions that are running. This cannot make the machine \
                unlearn what it was sent before: that stays there.
                """)

        @Argument(help: "The machine's name here, or the beginning of its key.")
        var name: String

        @Argument(help: "The zone's name here.")
        var zone: String

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            try await GrantFigures(store, .none, to: name, in: zone).write(output)
        }
    }
}

/// The new rights of a machine in a zone.
private struct GrantFigures: Encodable {
    let peer: String
    let zone: String
    let rights: String

    init(_ store: OpenStore, _ rights: ZoneRights, to name: String, in zone: String) async throws {
        let (peer, zone) = try await store.scorebook.records.zones.grant(rights, to: name, in: zone)
        self.peer = peer.name
        self.zone = zone.name
        self.rights = rights.name
    }

    func write(_ output: OutputOptions) throws {
        let may = rights == "none" ? "has nothing of" : "may \(rights) in"
        try output.write(self, "\(peer) \(may) the zone “\(zone)” from now on")
    }
}
