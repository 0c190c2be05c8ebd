import ArgumentParser
import Foundation
import Logging
import PeerSyncMailbox
import PeerSyncMailboxHTTP
import Scorebook

extension MailboxCommand {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add a mailbox: a folder, a WebDAV server, or a bucket of the S3 API.",
            discussion: """
                Add the same place on each machine that is paired. The command syncs with it once; `listen` goes on with that.
                """,
            subcommands: [AddFolder.self, AddWebDAV.self, AddS3.self])
    }

    struct AddFolder: MailboxAdding {
        static let configuration = CommandConfiguration(
            commandName: "folder",
            abstract:
                "Add a mailbox in a folder: on a network drive, on a stick, in a folder that Dropbox or Syncthing carries."
        )

        @Argument(help: "The folder, which has to be there.", completion: .directory)
        var path: String

        @OptionGroup var naming: MailboxNaming
        @OptionGroup var options: EngineOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func mailbox(_ store: OpenStore) async throws -> NewMailbox {
            let folder = try MailboxFolderPath.checked(Home.expanding(path), of: store.directory)
            return NewMailbox(name: naming.name, place: .folder(path: folder), secrets: nil)
        }
    }

    struct AddWebDAV: MailboxAdding {
        static let configuration = CommandConfiguration(
            commandName: "webdav",
            abstract: "Add a mailbox in a folder of a WebDAV server, as of Nextcloud.",
            discussion: """
                Nextcloud shows the address under Files settings; make a folder there, and put its name behind the address. An app \
                password is better than the password of the account.
                """)

        @Argument(help: "The address of the folder, which has to be there.")
        var url: String

        @OptionGroup var credentials: CredentialsOptions
        @OptionGroup var naming: MailboxNaming
        @OptionGroup var options: EngineOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func mailbox(_ store: OpenStore) async throws -> NewMailbox {
            guard MailboxPlace.hasServers else { throw Failure.noServers }
            let place = MailboxPlace.webdav(try WebAddress(url))
            return NewMailbox(
                name: naming.name, place: place,
                secrets: try await credentials.read(user: "user", secret: "password"))
        }
    }

    struct AddS3: MailboxAdding {
        static let configuration = CommandConfiguration(
            commandName: "s3",
            abstract: "Add a mailbox in a bucket of a server that speaks the S3 API.",
            discussion: """
                The access key needs the rights to list, read, write and delete the objects of the bucket. BUCKET/FOLDER uses a folder in it.
                """)

        @Argument(help: ArgumentHelp("The bucket, which has to be there.", valueName: "bucket[/folder]"))
        var bucket: String

        @Option(help: ArgumentHelp("The address of the server.", valueName: "url"))
        var endpoint: String

        @Option(
            help: "The region of the bucket (default: what the address says, else \(S3Bucket.defaultRegion))."
        )
        var region: String?

        @OptionGroup var credentials: CredentialsOptions
        @OptionGroup var naming: MailboxNaming
        @OptionGroup var options: EngineOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func mailbox(_ store: OpenStore) async throws -> NewMailbox {
            guard MailboxPlace.hasServers else { throw Failure.noServers }
            let place = MailboxPlace.s3(try S3Bucket(bucket, at: WebAddress(endpoint), region: region))
            return NewMailbox(
                name: naming.name, place: place,
                secrets: try await credentials.read(user: "access key", secret: "secret key"))
        }
    }
}

/// What a mailbox is called.
struct MailboxNaming: ParsableArguments {
    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "What this machine calls the mailbox (default: the name of the folder, the server or the bucket).",
            valueName: "name"))
    var name: String?

    func validate() throws {
        guard let name else { return }
        guard (1...64).contains(name.utf8.count) else {
            throw ValidationError("a name has 1 to 64 bytes")
        }
        guard name == Display.printable(name) else {
            throw ValidationError("a name has no line breaks or other control characters")
        }
    }
}

/// A command that adds a mailbox.
protocol MailboxAdding: SyncingCommand {
    var options: EngineOptions { get }
    var output: OutputOptions { get }

    /// What is to be added. Asks for what is missing.
    func mailbox(_ store: OpenStore) async throws -> NewMailbox
}

extension MailboxAdding {
    var logger: Logger { options.logger }
    var stopped: Failure? { .notYetEqual }

    func run(_ store: OpenStore) async throws {
        let new = try await mailbox(store)
        let figures = Latest<MailboxPassFigures>()
        try await store.addMailbox(new) { entry in
            let passes = MailboxPasses(store: store, options: options, isJSON: output.json)
            try await figures.set(passes.run(entry))
        }
        let entry = try await store.mailbox(named: new.name)
        let none = MailboxPassFigures(
            entry, MailboxReport(), paired: try await store.scorebook.records.peers.all().count)
        try output.write(
            figures.value ?? none,
            "added the mailbox “\(Display.printable(new.name))”")
    }
}
