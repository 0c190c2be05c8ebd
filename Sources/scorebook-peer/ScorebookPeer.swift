import ArgumentParser

@main
enum Main {
    static func main() async {
        CrashSignals.spareTheLiving()
        Terminal.outliveReaders()
        Arenas.setLimit()
        OpenFileLimit.raise()
        let arguments = CommandLine.arguments.dropFirst().map(NegativeNumber.masked)
        do {
            var command = try await ScorebookPeer.asyncParseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            Ending(error, arguments).take()
        }
        Ending.done.take()
    }
}

/// The command line of scorebook-peer.
struct ScorebookPeer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scorebook-peer",
        abstract: "Keeps the scores of your board games, and keeps them the same on all your machines.",
        discussion: """
            Every machine has the whole scorebook and works offline. Machines that are paired exchange their \
            changes directly, encrypted, without any server:

              on one machine:      scorebook-peer pair
              on the other:        scorebook-peer pair NNN-NNN

            From then on `listen` on both is enough: they find each other.

            Exit codes: 0 done; 64 wrong usage; 65 wrong data; 66 no such file; 69 unreachable; 73 the store \
            cannot be written; 74 the output cannot; 75 try again; 77 not paired or refused; 78 the identity key is not \
            safe, or is missing.
            """,
        version: Version.text,
        groupedSubcommands: [
            CommandGroup(
                name: "Syncing",
                subcommands: [
                    Pair.self, Listen.self, Connect.self, Peers.self, MailboxCommand.self, ZoneCommand.self,
                    SyncCommand.self,
                    Status.self,
                    Verify.self, Reset.self,
                ]),
            CommandGroup(
                name: "Keeping score",
                subcommands: [
                    Play.self, PersonCommand.self, GameCommand.self, MatchCommand.self, ScoreCommand.self,
                    ImageCommand.self, Search.self, StatsCommand.self, WebCommand.self, Undo.self,
                ]),
            CommandGroup(
                name: "Data",
                subcommands: [Import.self, Export.self, RecordCommand.self, AssetsCommand.self]),
            CommandGroup(
                name: "Upkeep",
                subcommands: [Doctor.self, ServiceCommand.self, ClockCommand.self, IdentityCommand.self]),
        ])
}
