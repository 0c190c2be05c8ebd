/// What the facts of mailboxes say.
enum MailboxChecks {
    static func findings(_ mailbox: MailboxFacts) -> [Finding] {
        let state: Finding =
            if mailbox.hasFailed {
                Finding(.problem, .mailboxFailed, subject: mailbox.name)
            } else if mailbox.wasInStep {
                Finding(.fine, .mailboxInStep, subject: mailbox.name)
            } else {
                Finding(.warning, .mailboxUnused, subject: mailbox.name)
            }
        return [state]
            + mailbox.unreadable.sorted().map {
                Finding(.problem, .mailboxUnreadable, peer: $0, subject: mailbox.name)
            }
    }
}
