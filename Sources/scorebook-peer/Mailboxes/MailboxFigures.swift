import PeerSyncMailbox
import Scorebook

/// A mailbox, for programs.
struct MailboxFigures: Encodable {
    struct Machine: Encodable {
        let name: String
        let lastHeard: String
        @OrNull var problem: String?
        @OrNull var problemCode: String?
        let furtherRefused: Int
    }

    let name: String
    let kind: String
    let place: String
    let addedAt: String
    @OrNull var lastSync: String?
    @OrNull var lastError: String?
    @OrNull var lastErrorCode: String?
    let machines: [Machine]

    init(_ entry: MailboxEntry) {
        name = entry.name
        kind = entry.kind
        place = entry.place
        addedAt = entry.addedAt
        lastSync = entry.lastSync
        lastError = entry.lastError
        lastErrorCode = entry.lastErrorCode
        machines = entry.machines.map {
            Machine(
                name: $0.name, lastHeard: $0.lastHeard, problem: $0.problem, problemCode: $0.problemCode,
                furtherRefused: $0.furtherRefused)
        }
    }
}

/// What a check of a mailbox found, for programs and people.
struct MailboxCheckFigures: Encodable {
    struct Zone: Encodable {
        let name: String
        let records: Int
        let equal: Bool
    }

    let mailbox: String
    let sound: Bool
    let zones: [Zone]
    let batches: Int
    let files: Int
    let problems: [String]
    private let unread: [(machine: String, error: MailboxError)]

    private enum CodingKeys: String, CodingKey { case mailbox, sound, zones, batches, files, problems }

    init(_ mailbox: String, _ check: MailboxCheck) {
        self.mailbox = mailbox
        sound = check.isSound
        zones = check.zones.map {
            Zone(name: $0.name ?? Self.defaultZone, records: $0.records, equal: $0.isEqual)
        }
        batches = check.segments
        files = check.files
        unread = check.unread.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        problems = check.problems + unread.map(\.error.message)
    }

    private static let defaultZone = "ScorebookData"

    /// What was found, for people.
    var lines: [String] {
        let found = zones.map { zone in
            let place = zone.name == Self.defaultZone ? "" : " of the zone “\(zone.name)”"
            let result = zone.equal ? "the same as here" : "not the same as here"
            return "a new machine would have \(zone.records.counted("record"))\(place), \(result)"
        }
        guard sound else { return found + problems }
        let files = files > 0 ? ", \(files.counted("picture"))" : ""
        return found + ["sound: read \(batches.counted("batch", plural: "batches"))\(files) of “\(mailbox)”"]
    }

    /// The verdict, if it is not sound: one for all that was found.
    var fault: Fault? {
        guard !sound else { return nil }
        guard !zones.isEmpty else { return .nobody }
        guard zones.allSatisfy(\.equal) else { return .incomplete }
        guard problems.count == unread.count, let first = unread.first else { return .damaged }
        return .cutOff(first.machine, first.error)
    }

    enum Fault {
        /// Nobody may read what this machine would leave there.
        case nobody
        /// Another machine lets this one read nothing there any more.
        case cutOff(String, MailboxError)
        /// A new machine would have everything, but something is damaged or missing.
        case damaged
        case incomplete

        func words(_ mailbox: String) -> String {
            switch self {
            case .nobody: "nothing of this scorebook lies in “\(mailbox)”: \(MailboxPassFigures.nobody)"
            case .cutOff(_, let error): "not all of “\(mailbox)” can be read: \(error.message)"
            case .damaged:
                "something in “\(mailbox)” is missing or damaged, although a new machine would have all records"
            case .incomplete: "a new machine could not be made from “\(mailbox)”"
            }
        }

        func failure(_ mailbox: String) -> Failure {
            switch self {
            case .nobody: Failure(.refused, words(mailbox), hint: MailboxPassFigures.pairing)
            case .cutOff(let machine, let error):
                Failure(
                    Failure(error, in: mailbox, of: machine).code, words(mailbox),
                    hint: error.hint(in: mailbox, of: machine))
            case .damaged, .incomplete:
                Failure(
                    .dataError, words(mailbox),
                    hint: "`scorebook-peer mailbox sync` on the machines that are named may mend it")
            }
        }

        /// What helps, for people at a page.
        var help: String {
            switch self {
            case .nobody: "pair one, and everything goes there"
            case .cutOff: "pairing the two again lets this one read"
            case .damaged, .incomplete: "syncing on the machines that are named may mend it"
            }
        }
    }

    func write() {
        for line in lines { Terminal.write(Display.printable(line)) }
    }
}
