import ArgumentParser
import Foundation
import NIOPosix
import PeerSync
import Scorebook

struct IdentityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract: "Show this machine's key, or give a copied store one of its own.",
        discussion: """
            The key in the file identity.key is who this machine is to the others. A store directory that was copied \
            to a second machine, key included, would be the same machine twice; the two refuse each other.
            """,
        subcommands: [Show.self, Renew.self], defaultSubcommand: Show.self)

    struct Show: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show this machine's public key (the default).")

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            try output.write(Figures(store.identity), store.identity.publicKey.hex)
        }
    }

    struct Renew: StoreCommand {
        static let configuration = CommandConfiguration(
            commandName: "renew",
            abstract: "Make this store a machine of its own: a new key, and no pairings.",
            discussion: """
                For a store directory that was copied from another machine, and for one whose key is lost. The records \
                stay; the machines that the original is paired with have to be paired anew with this one. End a running \
                listen or connect first.
                """)

        @Flag(help: "Renew without asking; needed where nobody can be asked, as in a script.")
        var yes = false

        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let directory = try storeOptions.directory()
            let database = directory.appendingPathComponent("scorebook.sqlite").path
            let key = directory.appendingPathComponent(Identity.fileName)
            guard FileManager.default.fileExists(atPath: database), try Identity.load(at: key) == nil else {
                return try await runOnStore()
            }
            // A paired store cannot be opened before it has a key again.
            let snapshot = try await NIOThreadPool.singleton.runIfActive {
                try ScorebookSnapshot.open(at: database, replica: Identity.generate().replicaID)
            }
            try await checkUnused(snapshot.records, [])
            try await confirm(directory, " and end its pairings")
            try renew(directory)
        }

        func run(_ store: OpenStore) async throws {
            let peers = try await store.scorebook.records.peers.all()
            try await checkUnused(store.scorebook.records, peers)
            let names = peers.map(\.name).joined(separator: ", ")
            try await confirm(store.directory, peers.isEmpty ? "" : " and end the pairing with \(names)")
            try renew(store.directory)
        }

        /// Refuses a store that a program syncs: it would go on as the machine that this one no longer is, and pair others with that.
        private func checkUnused(_ records: RecordStore, _ peers: [Peer]) async throws {
            let isInUse =
                try await !records.pairing.listeningPorts().isEmpty || peers.contains(where: \.isConnected)
            guard !isInUse else {
                throw Failure(
                    .temporaryFailure, "another program syncs this store, under the key of now",
                    hint: "end the running listen or connect, and try again")
            }
        }

        private func confirm(_ directory: URL, _ consequence: String) async throws {
            guard !yes else { return }
            guard let answer = await Terminal.confirm("Give \(directory.path) a new key\(consequence)?")
            else {
                throw Failure(ExitCode(64), "renewing the key needs --yes when nobody can be asked")
            }
            guard answer else { throw Failure(.temporaryFailure, "nothing was changed") }
        }

        private func renew(_ directory: URL) throws {
            let key = directory.appendingPathComponent(Identity.fileName)
            // Otherwise a command that begins now could open the store as the machine of before.
            let lock = OpenStore.lock(key)
            defer { close(lock) }
            let identity = try Identity.renew(at: key)
            // Opening the store under its new identity ends the old pairings.
            _ = try OpenStore(directory)
            try output.write(
                Figures(identity),
                "this store has a key of its own now, \(identity.publicKey.hex.prefix(16))…; pair it with "
                    + "`scorebook-peer pair`")
        }
    }

    private struct Figures: Encodable {
        let key: String
        let replica: String

        init(_ identity: Identity) {
            key = identity.publicKey.hex
            replica = identity.replicaID.description
        }
    }
}
