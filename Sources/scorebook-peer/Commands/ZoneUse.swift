import ArgumentParser
import PeerSync
import Scorebook

extension ZoneCommand {
    struct Use: StoreCommand {
        static let makesStore = false

        static let configuration = CommandConfiguration(
            commandName: "use",
            abstract: "Use a zone from now on, on this machine.",
            discussion: """
                New games and persons go there, and names are looked up there first, then in the other zones. `--zone` with a \
                command is for that command alone. Without a name, tells which zone is in use.
                """)

        @Argument(help: "The zone's name here.")
        var name: String?

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let zone: Zone
            if let name {
                zone = try await store.scorebook.useZone(named: name)
            } else if let inUse = try await store.scorebook.zoneInUse() {
                zone = inUse
            } else {
                zone = try await store.scorebook.records.database.read {
                    try store.scorebook.records.zones.current($0, .default)
                }
            }
            try output.write(ZoneFigures(zone), "the zone in use is “\(zone.name)”")
        }
    }

    struct Delete: StoreCommand {
        static let makesStore = false

        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a zone on this machine, with everything in it.",
            discussion: """
                This cannot be undone here. Other machines keep what they have of it, and it does not come back from them before \
                `zone accept`. First end the sharing: `peers revoke NAME ZONE`.
                """)

        @Argument(help: "The zone's name here.")
        var name: String

        @Flag(help: "Delete it without asking.")
        var yes = false

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let zones = store.scorebook.records.zones
            try await store.scorebook.foldForReading()
            let zone = try await zones.find(named: name)
            let what = "the zone “\(zone.name)” with \(Int(zone.digest.count).counted("record"))"
            let holders = try await store.scorebook.records.database.read {
                try zones.machinesSharing($0, zone)
            }
            .joined(separator: " and ")
            if !yes, !zone.isDefault {
                guard
                    let answer = await Terminal.confirm(
                        "Delete \(what) on this machine? \(holders.isEmpty ? "This cannot be undone." : "\(holders) may bring it back, but only after `zone accept`.")"
                    )
                else {
                    throw Failure(ExitCode(64), "deleting \(what) needs --yes when nobody can be asked")
                }
                guard answer else { throw Failure(.temporaryFailure, "nothing was deleted") }
            }
            // The journal of `undo` must not keep what was in it.
            try await store.scorebook.deleteZone(named: name)
            let later =
                holders.isEmpty
                ? ""
                : "; \(holders) may have it still, and "
                    + Hint.filled("`zone accept ZONE` lets it come back", ["ZONE": zone.name])
            try output.write(ZoneFigures(zone), "deleted \(what)\(later)")
        }
    }
}

extension ZoneCommand {
    struct Accept: StoreCommand {
        static let makesStore = false

        static let configuration = CommandConfiguration(
            commandName: "accept",
            abstract: "Let a zone come back that was deleted on this machine.",
            discussion: """
                It comes when this machine next meets one on the network that shares it, and that machine may write there. \
                Without a name, tells which zones were deleted here.
                """)

        @Argument(help: "The name that the zone had here.")
        var name: String?

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let zones = store.scorebook.records.zones
            guard let name else {
                let declined = try await zones.declined()
                return try output.write(
                    declined.map(DeclinedFigures.init),
                    declined.isEmpty
                        ? "no zone was deleted on this machine"
                        : "deleted on this machine: \(declined.map(\.name).joined(separator: ", "))")
            }
            let zone = try await zones.accept(name)
            try output.write(
                [DeclinedFigures(zone)],
                "the zone “\(zone.name)” comes when this machine next meets one on the network that shares it"
            )
        }
    }
}

/// A zone that was deleted on this machine, for programs.
private struct DeclinedFigures: Encodable {
    let name: String
    let id: String

    init(_ zone: DeclinedZone) {
        name = zone.name
        id = zone.id.description
    }
}
