import ArgumentParser
import Scorebook

/// A kind of record of which two can become one.
protocol Mergeable: Sendable {
    static var kind: RecordKind { get }

    /// Returns what is shown of the record that is left.
    static func left(_ scorebook: ScorebookStore, _ name: String) async throws -> Self

    var name: String { get }
    var matches: Int { get }
}

extension PersonListing: Mergeable {
    static var kind: RecordKind { .person }

    static func left(_ scorebook: ScorebookStore, _ name: String) async throws -> PersonListing {
        try await scorebook.person(name)
    }

    var name: String { person.name }
}

extension GameListing: Mergeable {
    static var kind: RecordKind { .game }

    static func left(_ scorebook: ScorebookStore, _ name: String) async throws -> GameListing {
        try await scorebook.game(name)
    }

    var name: String { game.name ?? "-" }
}

/// `person merge` and `game merge`.
struct MergeCommand<Listing: Mergeable & Encodable>: ZonedCommand {
    static var makesStore: Bool { false }

    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "merge",
            abstract: "Make one \(Listing.kind.noun) of two.",
            discussion: """
                All matches of the first one belong to the second one from now on, on every machine; so does what another machine \
                adds to the first one before it knows. What the second one lacks comes from the first one. `undo` takes it back.
                """)
    }

    @Argument(help: ArgumentHelp("The \(Listing.kind.noun) that goes.", valueName: Listing.kind.noun))
    var goes: String

    @Argument(help: ArgumentHelp("The \(Listing.kind.noun) that stays.", valueName: "into"))
    var stays: String

    @Flag(help: "Merge without asking.")
    var yes = false

    @OptionGroup var zoneOptions: ZoneOptions
    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    func run(_ store: OpenStore) async throws {
        if Terminal.isInputATerminal, !yes {
            let plan = try await store.scorebook.mergePlan(Listing.kind, goes, into: stays)
            let question =
                "Make one of them? \(plan.goes.text) goes into \(plan.stays.text), on every machine; `undo` takes it back."
            guard await Terminal.isConfirmed(question) else {
                throw Failure(.temporaryFailure, "nothing was changed")
            }
        }
        let name = try await store.scorebook.merge(Listing.kind, goes, into: stays)
        let left = try await Listing.left(store.scorebook, "\(name)")
        try output.write(
            left,
            "\(Display.printable(left.name)) is the one that is left, with \(left.matches.counted("match", plural: "matches"))"
        )
    }
}
