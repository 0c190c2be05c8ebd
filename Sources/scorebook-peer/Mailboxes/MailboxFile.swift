import Foundation
import Scorebook

/// The file with the passwords for the mailboxes of a scorebook: only its owner can read it.
///
/// It lies beside the scorebook and not in the database, because people pass copies of that on.
struct MailboxFile: Sendable {
    static let fileName = "mailboxes.json"

    let url: URL

    init(in directory: URL) {
        url = directory.appendingPathComponent(Self.fileName)
    }

    private struct Content: Codable {
        var version = 1
        var mailboxes: [String: MailboxSecrets] = [:]
    }

    /// Reads what is needed for the mailboxes, by their names; nothing if there is no file.
    ///
    /// - Throws: ``Failure`` if others can read the file, or if it is damaged.
    func secrets() throws -> [String: MailboxSecrets] {
        guard let data = try SecretFile.content(of: url.path, isMissingAllowed: true) else { return [:] }
        do {
            return try JSONDecoder().decode(Content.self, from: data).mailboxes
        } catch {
            throw Failure(
                .dataError, "\(Display.printable(url.path)) does not hold passwords of mailboxes",
                hint: "move it away, and add the mailboxes again with `scorebook-peer mailbox add`")
        }
    }

    /// Keeps what is needed for a mailbox, or forgets it; one program at a time.
    func set(_ secrets: MailboxSecrets?, for name: String) throws {
        let lock = open(url.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        defer { close(lock) }
        flock(lock, LOCK_EX)
        var content = Content(mailboxes: try self.secrets())
        guard secrets != nil || content.mailboxes[name] != nil else { return }
        content.mailboxes[name] = secrets
        try write(content)
    }

    private func write(_ content: Content) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let new = url.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString).mailboxes").path
        // The mode from the beginning on: the passwords are never readable by others.
        let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure }
        do {
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try file.write(contentsOf: encoder.encode(content))
            try file.synchronize()
            guard rename(new, url.path) == 0 else { throw failure }
        } catch {
            unlink(new)
            throw failure
        }
    }

    private var failure: Failure {
        Failure(
            .cannotCreate, "\(Display.printable(url.path)) cannot be written",
            hint: "check that there is room, and who may write there")
    }
}
