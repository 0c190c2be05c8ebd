import Foundation
import Hummingbird
import Scorebook

/// The mailboxes on the page about machines.
extension Pages {
    func addMailboxes(to router: Router<PageContext>) {
        router.post("machines/mailboxes") { request, context in
            let form = try await request.decode(as: FolderForm.self, context: context)
            let path = form.folder.trimmingCharacters(in: .whitespacesAndNewlines)
            guard path.hasPrefix("/") else {
                throw PageError(.unprocessableContent, "The path of a folder of this machine begins with a slash.")
            }
            let mailboxes = machineTools.machines.mailboxes
            do {
                try await mailboxes.addFolder(path)
            } catch {
                let sentence = mailboxes.explain(error)
                throw PageError(.unprocessableContent, sentence.prefix(1).uppercased() + sentence.dropFirst() + ".")
            }
            return redirect("/machines")
        }
    }

    private struct FolderForm: Decodable { let folder: String }

    /// What the template has of mailboxes.
    static func content(_ mailboxes: [PageMailboxes.Mailbox], _ reader: Reader) -> [String: Any] {
        [
            "hasMailboxes": !mailboxes.isEmpty,
            "mailboxes": mailboxes.map { mailbox in
                let since = mailbox.lastSync.map { reader.moment($0) }
                let (kind, state) =
                    if let trouble = mailbox.trouble {
                        ("bad", "\(trouble.prefix(1).uppercased())\(trouble.dropFirst()).")
                    } else if let since {
                        ("good", "In step on \(since).")
                    } else {
                        ("waits", "Not used yet.")
                    }
                return [
                    "name": mailbox.name, "place": mailbox.place, "kind": kind,
                    "parts": parts(state + (mailbox.trouble != nil ? since.map { " Last in step on \($0)." } ?? "" : "")),
                ] as [String: Any]
            },
        ]
    }
}
