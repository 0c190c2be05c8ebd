import Foundation
import Hummingbird
import Scorebook

/// The mailboxes, one under the other, and what adds one.
extension Pages {
    private static let mailboxesPath = "/machines/mailboxes"

    private var mailboxes: any PageMailboxes { machineTools.machines.mailboxes }

    func addMailboxes(to router: Router<PageContext>) {
        router.get("machines/mailboxes") { _, context in try await showMailboxes(context) }
        router.post("machines/mailboxes/add") { request, context in
            let place = try await request.decode(as: PlaceForm.self, context: context).chosen
            try await explaining { try await mailboxes.add(place) }
            return redirect(Self.mailboxesPath)
        }
        router.post("machines/mailboxes/sync") { request, context in
            let name = try await request.decode(as: NameForm.self, context: context).name
            try await explaining { try await mailboxes.sync(name) }
            return redirect(Self.mailboxesPath)
        }
        router.post("machines/mailboxes/check") { request, context in
            let name = try await request.decode(as: NameForm.self, context: context).name
            return try show(try await explaining { try await mailboxes.check(name) }, of: name, context)
        }
        router.post("machines/mailboxes/remove") { request, context in
            let name = try await request.decode(as: NameForm.self, context: context).name
            try await explaining { try await mailboxes.remove(name) }
            return redirect(Self.mailboxesPath)
        }
    }

    private struct NameForm: Decodable { let name: String }

    private struct PlaceForm: Decodable {
        /// folder, webdav or s3.
        let kind: String
        /// The path of a folder, the address of a folder on a server, or the bucket.
        let place: String
        let endpoint: String?
        let region: String?
        let user: String?
        let secret: String?
        let certificate: String?

        var chosen: PageMailboxPlace {
            get throws {
                let place = Self.trimmed(place)
                switch kind {
                case "webdav": return .webdav(address: place, try secrets)
                case "s3":
                    return .s3(
                        bucket: place, endpoint: Self.trimmed(endpoint), region: Self.trimmed(region),
                        try secrets)
                case "folder":
                    guard place.hasPrefix("/") else {
                        throw PageError(
                            .unprocessableContent, "The path of a folder of this machine begins with a slash."
                        )
                    }
                    return .folder(path: place)
                default:
                    throw PageError(
                        .unprocessableContent,
                        "A mailbox lies in a folder, on a WebDAV server or in a bucket.")
                }
            }
        }

        private var secrets: PageMailboxSecrets {
            get throws {
                let user = Self.trimmed(user)
                guard !user.isEmpty, let secret, !secret.isEmpty else {
                    throw PageError(
                        .unprocessableContent,
                        "A server asks for two: a user and a password, or an access key and a secret key.")
                }
                let certificate = Self.trimmed(certificate)
                return PageMailboxSecrets(
                    user: user, secret: secret, certificate: certificate.isEmpty ? nil : certificate)
            }
        }

        private static func trimmed(_ text: String?) -> String {
            (text ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    /// Does something with a mailbox, and makes a page of what goes wrong.
    private func explaining<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch {
            throw PageError(.unprocessableContent, PageError.sentence(mailboxes.explain(error)))
        }
    }

    private func showMailboxes(_ context: PageContext) async throws -> Response {
        try render(
            "mailboxes", title: "Mailboxes", section: "/machines",
            [
                "hasServers": mailboxes.hasServers,
                "mailboxes": try await mailboxes.all().map { Self.lines($0, context.reader) },
            ], context)
    }

    private func show(_ check: PageMailboxCheck, of name: String, _ context: PageContext) throws -> Response {
        try render(
            "checked", title: "What lies in “\(name)”", section: "/machines",
            [
                "fault": check.fault.map { PageError.sentence($0) } ?? false as Any,
                "lines": check.lines.map(PageError.sentence),
            ], context)
    }

    /// What the templates have of a mailbox.
    static func lines(_ mailbox: PageMailbox, _ reader: Reader) -> [String: Any] {
        let since = mailbox.lastSync.map { reader.moment($0) }
        let (kind, state) =
            if let trouble = mailbox.trouble {
                (
                    "bad",
                    PageError.sentence(trouble) + (since.map { " Last in step on \($0)." } ?? "")
                )
            } else if let since {
                ("good", "In step on \(since).")
            } else {
                ("waits", "Not used yet.")
            }
        return [
            "name": mailbox.name, "place": mailbox.place, "kind": kind, "parts": parts(state),
            "machines": mailbox.machines.map { machine in
                [
                    "text": "\(machine.name) was last heard of on \(reader.moment(machine.lastHeard)).",
                    "problem": machine.problem.map {
                        PageError.sentence("what it left cannot be read on: \($0)")
                    } ?? false as Any,
                ] as [String: Any]
            },
        ]
    }
}
