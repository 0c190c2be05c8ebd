/// What the facts of mailboxes say.
enum MailboxChecks {
    static func findings(_ mailbox: MailboxFacts) -> [Finding] {
        let state: Finding =
            if let failure = mailbox.failure {
                Finding(.problem, .mailboxFailed, subject: mailbox.name, reason: failure)
            } else if mailbox.wasInStep {
                Finding(.fine, .mailboxInStep, subject: mailbox.name)
            } else {
                Finding(.warning, .mailboxUnused, subject: mailbox.name)
            }
        return [state]
            + mailbox.unreadable.sorted { $0.key < $1.key }.map {
                Finding(.problem, .mailboxUnreadable, peer: $0.key, subject: mailbox.name, reason: $0.value)
            }
    }
}
