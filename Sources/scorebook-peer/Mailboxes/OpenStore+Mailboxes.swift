import Foundation
import PeerSync
import PeerSyncMailbox
import Scorebook

/// The mailboxes of an open store.
extension OpenStore {
    private var mailboxFile: MailboxFile { MailboxFile(in: directory) }

    /// The mailbox of a name.
    ///
    /// - Throws: ``Failure`` if there is none.
    func mailbox(named name: String) async throws -> MailboxEntry {
        guard let entry = try await scorebook.records.mailboxes.all().first(where: { $0.name == name }) else {
            throw Failure(
                .dataError, "there is no mailbox “\(Display.printable(name))”",
                hint: "`mailbox list` lists those there are")
        }
        return entry
    }

    /// Makes a mailbox of what the store and the file with the passwords say of it.
    ///
    /// - Throws: `MailboxError`, also if the file with the passwords cannot be used. The store then tells why, as of a sync that failed.
    func mailbox(
        _ entry: MailboxEntry, _ engine: SyncEngine, _ options: MailboxOptions = MailboxOptions(),
        onEvent: @escaping @Sendable (MailboxEvent) -> Void = { _ in }
    ) async throws -> Mailbox {
        do {
            let place = try MailboxPlace(location: entry.location)
            let secrets = place.isOnServer ? try mailboxFile.secrets()[entry.name] : nil
            return Mailbox(engine, entry, in: try place.storage(secrets), options: options, onEvent: onEvent)
        } catch {
            let error = MailboxError(error)
            try? await scorebook.records.mailboxes.noteFailure(error, of: entry)
            throw error
        }
    }

    /// What a mailbox needs where nobody syncs with it.
    private var engineAtRest: SyncEngine {
        SyncEngine(
            app: .scorebook, store: scorebook.records, identity: identity, displayName: "", discovery: .off)
    }

    /// Adds a mailbox, and syncs with it once. If that does not work, it is not added, unless the sync can go on later where it was.
    func addMailbox(
        _ new: NewMailbox, _ sync: (MailboxEntry) async throws -> Void
    ) async throws {
        let mailboxes = scorebook.records.mailboxes
        let present = try await mailboxes.all()
        if let twin = present.first(where: {
            (try? MailboxPlace(location: $0.location))?.isSamePlace(as: new.place) ?? false
        }) {
            throw Failure(.dataError, "the mailbox “\(Display.printable(twin.name))” lies there already")
        }
        guard !present.contains(where: { $0.name == new.name }) else {
            throw Failure(
                .dataError, "another mailbox is called “\(Display.printable(new.name))”",
                hint: "give this one another name with --as")
        }
        guard new.name.utf8.count <= 64 else {
            throw Failure(
                .dataError,
                "“\(Display.printable(new.name))” is too long a name for a mailbox: it has 1 to 64 bytes",
                hint: "give it another name with --as")
        }
        // First, because `listen` uses a mailbox as soon as the store has it.
        let former = try mailboxFile.secrets()[new.name]
        try mailboxFile.set(new.secrets, for: new.name)
        let entry: MailboxEntry
        do { entry = try await mailboxes.add(new.name, location: new.place.location) } catch {
            // Somebody else has added one of that name at this moment.
            try mailboxFile.set(former, for: new.name)
            throw error
        }
        do {
            try await sync(entry)
        } catch let error as MailboxError where error.code == .busy {
            // `listen` was faster.
        } catch {
            if let begun = try await beginning(of: entry, error) { throw begun }
            throw error
        }
    }

    /// Takes a mailbox back whose first sync has failed, with what this machine has put there; not if something is there, and
    /// the reason passes.
    ///
    /// - Returns: what to say if the mailbox stays.
    private func beginning(of entry: MailboxEntry, _ error: any Error) async throws -> Failure? {
        let now = try await mailbox(named: entry.name)
        let isTransient = (error as? MailboxError)?.isTransient ?? true
        if now.hasPut, isTransient {
            let failure = (error as? MailboxError).map { Failure($0, in: entry.name) } ?? Failure(error)
            return Failure(
                failure.code,
                "added the mailbox “\(Display.printable(entry.name))”; not yet in step: \(failure.message)",
                hint: failure.hint)
        }
        if now.isBegun { try? await eraseMailbox(entry) }
        // If that was not possible, or not needed.
        try? await removeMailbox(entry.name)
        return nil
    }

    /// Removes from a mailbox what this machine has left there, and forgets it and the password for it.
    func eraseMailbox(_ entry: MailboxEntry) async throws {
        try await mailbox(entry, engineAtRest).removeWithOwnObjects()
        try mailboxFile.set(nil, for: entry.name)
    }

    /// Forgets a mailbox and the password for it.
    func removeMailbox(_ name: String) async throws {
        try mailboxFile.set(nil, for: name)
        try await scorebook.records.mailboxes.remove(name)
    }
}

/// A mailbox that somebody wants to add.
struct NewMailbox: Sendable {
    let name: String
    let place: MailboxPlace
    let secrets: MailboxSecrets?

    /// - Parameter name: nil for the usual name of the place.
    init(name: String?, place: MailboxPlace, secrets: MailboxSecrets?) {
        self.name = name ?? place.usualName
        self.place = place
        self.secrets = secrets
    }
}

extension MailboxEntry {
    /// Where it lies, for people.
    var place: String { (try? MailboxPlace(location: location))?.text ?? location }

    /// The word that people type for its kind.
    var kind: String { (try? MailboxPlace(location: location))?.kind ?? "unknown" }
}

extension [MailboxEntry] {
    /// When each machine was last heard of through any of them, by its name.
    var lastHeard: [String: String] {
        Dictionary(flatMap(\.machines).map { ($0.name, $0.lastHeard) }) { Swift.max($0, $1) }
    }
}
