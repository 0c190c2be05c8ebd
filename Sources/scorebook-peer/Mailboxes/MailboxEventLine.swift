import PeerSync
import PeerSyncMailbox

/// An event in a mailbox as a JSON object. Its keys are those of ``EventLine``, and `mailbox`.
struct MailboxEventLine: Encodable {
    var event: String
    let mailbox: String
    var peer: String?
    var by: String?
    var zone: String?
    var reason: String?
    var code: String?
    var records: [String]?
    var count: Int?
    var files: Int?

    init(_ event: MailboxEvent, in mailbox: String) {
        self.mailbox = mailbox
        self.event = "mailbox"
        switch event {
        case .changed(let machine, let zone, let changes):
            self.event = "mailboxChanged"
            (peer, self.zone) = (machine, zone)
            (records, count) = (changes.records.map(\.name.description), changes.count)
        case .refusedRecords(let machine, let names, let reason):
            self.event = "mailboxRefusedRecords"
            (peer, records, self.reason) = (machine, names.map(\.description), reason.description)
        case .peerRefusedRecords(let machine, let names, let reason):
            self.event = "mailboxPeerRefusedRecords"
            (peer, records, self.reason) = (machine, names.map(\.description), reason.description)
        case .withheld(let machine, let zone, let count):
            self.event = "mailboxWithheld"
            (peer, self.zone, self.count) = (machine, zone, count)
        case .filesReceived(let machine, let count):
            self.event = "mailboxFilesReceived"
            (peer, files) = (machine, count)
        case .filesWait(let machine, let error):
            self.event = "mailboxFilesWait"
            (peer, reason) = (machine, error.explanation)
        case .introduced(let machine, let by):
            self.event = "introduced"
            (peer, self.by) = (machine, by)
        case .removed(let machine, let by):
            self.event = "removed"
            (peer, self.by) = (machine, by)
        case .zoneEnded(let machine, let zone):
            self.event = "mailboxZoneEnded"
            (peer, self.zone) = (machine, zone)
        case .stopped(let machine, let error):
            self.event = "mailboxStopped"
            (peer, reason, code) = (
                machine, error.explanation(in: mailbox, of: machine), error.code.description
            )
        case .wentBack(let machine):
            self.event = "mailboxWentBack"
            peer = machine
        case .gone(let machine):
            self.event = "mailboxGone"
            peer = machine
        case .ownObjectsLost: self.event = "mailboxOwnObjectsLost"
        case .restored: self.event = "mailboxRestored"
        case .inStep(let report):
            self.event = "mailboxInStep"
            (count, files) = (report.changes.count, report.filesRead)
        case .failed(let error):
            self.event = "mailboxFailed"
            (reason, code) = (error.explanation(in: mailbox), error.code.description)
        case .recovered: self.event = "mailboxRecovered"
        }
    }
}
