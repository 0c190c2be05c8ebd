import PeerSync
import PeerSyncMailbox
import PeerSyncMailboxHTTP
import Scorebook
import ScorebookWeb

/// The mailboxes of an open store, for the page.
struct StorePageMailboxes: PageMailboxes {
    let store: OpenStore
    /// Syncs with them.
    let engine: SyncEngine

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
        let name = (2...).lazy.map { "\(place.usualName) \($0)" }.first { !taken.contains($0) }
        let new = NewMailbox(
            name: taken.contains(place.usualName) ? name : nil, place: place, secrets: secrets)
        try await store.addMailbox(new) { try await mailbox($0).syncOnce() }
    }

    private func read(_ place: PageMailboxPlace) throws -> (MailboxPlace, MailboxSecrets?) {
        switch place {
        case .folder(let path):
            return (.folder(path: try MailboxFolderPath.checked(path, of: store.directory)), nil)
        case .webDAV(let address, let secrets):
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
        do { try await mailbox(find(name)).syncOnce() } catch let error as MailboxError
        where error.code == .busy {
            // `listen` syncs at this moment.
        }
    }

    func check(_ name: String) async throws -> PageMailboxCheck {
        let figures = MailboxCheckFigures(name, try await mailbox(find(name)).check())
        return PageMailboxCheck(isSound: figures.sound, lines: figures.lines)
    }

    func remove(_ name: String) async throws {
        try await store.removeMailbox(try await find(name).name)
    }

    func explain(_ error: any Error) -> String {
        let failure = Failure(error)
        return failure.message + (failure.hint.map { "; \($0)" } ?? "")
    }

    private func find(_ name: String) async throws -> MailboxEntry {
        guard let entry = try await store.scorebook.records.mailboxes.all().first(where: { $0.name == name })
        else { throw Failure(.dataError, "there is no mailbox “\(Display.printable(name))” any more") }
        return entry
    }

    private func mailbox(_ entry: MailboxEntry) throws -> Mailbox {
        try store.mailbox(entry, engine) { _ in }
    }
}
