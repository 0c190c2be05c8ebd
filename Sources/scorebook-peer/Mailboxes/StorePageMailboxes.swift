import PeerSync
import PeerSyncMailbox
import PeerSyncMailboxHTTP
import Scorebook
import ScorebookWeb
import ServiceLifecycle

/// The mailboxes of an open store, for the page.
struct StorePageMailboxes: PageMailboxes {
    let store: OpenStore
    /// Syncs with them.
    let engine: SyncEngine
    let print: @Sendable (LiveOutput.Item) -> Void

    var hasServers: Bool { MailboxPlace.hasServers }

    func all() async throws -> [PageMailbox] {
        try await store.scorebook.records.mailboxes.all().map { entry in
            PageMailbox(
                name: entry.name, place: entry.place, lastSync: entry.lastSync, trouble: entry.trouble,
                machines: entry.machines.map {
                    PageMailbox.Machine(name: $0.name, lastHeard: $0.lastHeard, problem: $0.problem)
                })
        }
    }

    func add(_ place: PageMailboxPlace) async throws {
        let (place, secrets) = try read(place)
        let taken = Set(try await store.scorebook.records.mailboxes.all().map(\.name))
        // The page asks for no name.
        let new = NewMailbox(name: place.freeName(besides: taken), place: place, secrets: secrets)
        try await store.addMailbox(new) { try await sync($0) }
    }

    private func read(_ place: PageMailboxPlace) throws -> (MailboxPlace, MailboxSecrets?) {
        switch place {
        case .folder(let path):
            return (.folder(path: try MailboxFolderPath.checked(path, of: store.directory)), nil)
        case .webdav(let address, let secrets):
            guard hasServers else { throw Failure.noServers }
            return (.webdav(try WebAddress(address)), try read(secrets))
        case .s3(let bucket, let endpoint, let region, let secrets):
            guard hasServers else { throw Failure.noServers }
            let bucket = try S3Bucket(
                bucket, at: WebAddress(endpoint), region: region.isEmpty ? nil : region)
            return (.s3(bucket), try read(secrets))
        }
    }

    private func read(_ secrets: PageMailboxSecrets) throws -> MailboxSecrets {
        if let certificate = secrets.certificate { try CredentialsOptions.check(certificate, of: "the text") }
        return MailboxSecrets(
            user: secrets.user, secret: secrets.secret, certificate: secrets.certificate)
    }

    func sync(_ name: String) async throws {
        do { try await sync(store.mailbox(named: name)) } catch let error as MailboxError
            where error.code == .busy
        {
            // `listen` syncs at this moment.
        }
    }

    /// The end of the program ends it.
    private func sync(_ entry: MailboxEntry) async throws {
        let mailbox = try await mailbox(entry)
        _ = try await cancelWhenGracefulShutdown { try await mailbox.syncOnce() }
    }

    func check(_ name: String) async throws -> PageMailboxCheck {
        let mailbox = try await mailbox(store.mailbox(named: name))
        let figures = MailboxCheckFigures(
            name, try await cancelWhenGracefulShutdown { try await mailbox.check() })
        return PageMailboxCheck(
            fault: figures.fault.map { "\($0.words(name)); \($0.help)" }, lines: figures.lines)
    }

    func remove(_ name: String) async throws {
        try await store.removeMailbox(try await store.mailbox(named: name).name)
    }

    /// Without what helps: that names commands, which a page has none of.
    func explain(_ error: any Error) -> String { Failure(error).message }

    private func mailbox(_ entry: MailboxEntry) async throws -> Mailbox {
        try await store.mailbox(entry, engine) { [print] in print(.mailbox(entry.name, $0)) }
    }
}
