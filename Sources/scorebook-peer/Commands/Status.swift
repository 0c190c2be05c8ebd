import ArgumentParser
import PeerSync
import PeerSyncMailbox
import Scorebook

struct Status: StoreCommand {
    static let makesStore = false

    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say what the scorebook holds, and how it stands with the other machines.",
        discussion: """
            Two scorebooks hold the same records when their digests are equal, which --verbose shows. `pending` names \
            what each machine has not got yet, as BEHIND does. With --json it is the greatest of these numbers.
            """)

    @Flag(help: "Look at every record, and say where the tables and what sync knows of them do not agree.")
    var check = false

    @Flag(
        help: """
            With --check: mend what is found. Rows that sync has missed count as written when they were last changed, \
            as far as that is known; rows that are gone come back from the other machines at the next sync.
            """)
    var repair = false

    @Flag(help: "With --check: read the file of every picture as well, and put aside those that are damaged.")
    var assets = false

    @Flag(name: .shortAndLong, help: "Also show keys, digests and the records of each type.")
    var verbose = false

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard check || !repair else { throw ValidationError("--repair goes with --check") }
        guard check || !assets else { throw ValidationError("--assets goes with --check") }
    }

    func run(_ store: OpenStore) async throws {
        let records = store.scorebook.records
        if check { return try await check(store) }
        // The status includes writes of other programs, so this folds them first.
        try await store.scorebook.foldForReading()
        // In one transaction: otherwise two of the numbers could contradict each other.
        let (status, peers, mailboxes) = try await records.database.read { db in
            (try records.status(db), try store.peerFigures(db), try records.mailboxes.all(db))
        }
        let assets = AssetFigures(try await records.assets.status())
        if output.json {
            try Terminal.write(
                json: Figures(
                    store: store.directory.path, key: store.identity.publicKey.hex,
                    digest: status.digest.hex, live: Int(status.digest.count), records: status.records,
                    tombstones: status.tombstones, hidden: status.hidden, held: status.held,
                    pending: status.pending,
                    peers: peers, assets: assets, zones: status.zones.map(ZoneFigures.init),
                    refused: status.refused.map(RefusedFigures.init),
                    unsynced: status.unsynced.map(UnsyncedFigures.init),
                    alarms: status.alarms.map(AlarmFigures.init), awaitedCopy: status.awaitedCopy,
                    sync: status.isSyncOn,
                    mailboxes: mailboxes.map(MailboxFigures.init)))
        } else {
            try await StatusText(
                status: status, assets: assets, peers: peers, mailboxes: mailboxes, store: store,
                isVerbose: verbose
            ).write()
        }
    }

    private func check(_ store: OpenStore) async throws {
        let records = store.scorebook.records
        // The check would report unfolded rows as rows that sync missed.
        try await records.foldPendingChanges()
        let repairs = repair
        let found = try await ProgressLine.shared.measuring("checking every record") { progress in
            repairs
                ? try await records.database.write { try records.upkeep.repair($0, progress: progress) }
                : try await records.database.read { try records.upkeep.check($0, progress: progress) }
        }
        let pictures = assets ? try await PictureCheck(store.scorebook) : nil
        if output.json {
            try Terminal.write(json: CheckFigures(found, isRepaired: repair, pictures))
        } else {
            for finding in found.findings { Terminal.write("\(finding.name): \(finding.kind.text)") }
            let hasZones = found.digests.count > 1
            for digests in found.digests where digests.kept != digests.found {
                let zone = hasZones ? " of the zone “\(digests.zone)”" : ""
                Terminal.write("the check sum\(zone) is not that of the records")
            }
            if found.isSound {
                for digests in found.digests {
                    let zone = hasZones ? " in the zone “\(digests.zone)”" : ""
                    Terminal.write(
                        verbose
                            ? "sound: digest \(StatusText.digest(digests.found))\(zone)"
                            : "sound: \(Int(digests.found.count).counted("record"))\(zone)")
                }
            } else if repair, found.isMendable {
                Terminal.write("repaired; sync with another machine to get back what is missing")
            }
            pictures?.write()
        }
        if let finding = found.findings.first(where: { !$0.kind.isMendable }) {
            throw Failure(
                .dataError,
                finding.kind == .tooLarge
                    ? "\(finding.name) is too large to be synced; make it smaller than 8 MiB"
                    : "“\(finding.name)” is not a name that can be synced; give the row another recordName")
        }
        guard found.isSound || repair else {
            throw Failure(
                .dataError, "the scorebook is not sound; `scorebook-peer status --check --repair` mends it")
        }
        try pictures?.failIfDamaged()
    }

    private struct CheckFigures: Encodable {
        struct Finding: Encodable {
            let recordName: String
            let kind: StoreCheck.Finding.Kind
        }

        struct Digests: Encodable {
            let zone: String
            let keptDigest: String
            let digest: String
        }

        let sound: Bool
        let repaired: Bool
        let keptDigest: String
        let digest: String
        let findings: [Finding]
        let zones: [Digests]
        @OrNull var assets: PictureCheck?

        init(_ check: StoreCheck, isRepaired: Bool, _ pictures: PictureCheck?) {
            sound = check.isSound
            repaired = isRepaired && !check.isSound && check.isMendable
            keptDigest = check.keptDigest.hex
            digest = check.foundDigest.hex
            findings = check.findings.map { Finding(recordName: $0.name, kind: $0.kind) }
            zones = check.digests.map {
                Digests(zone: $0.zone, keptDigest: $0.kept.hex, digest: $0.found.hex)
            }
            assets = pictures
        }
    }

    private struct Figures: Encodable {
        let store: String
        let key: String
        let digest: String
        let live: Int
        let records: [String: Int]
        let tombstones: Int
        let hidden: Int
        let held: Int
        let pending: Int
        let peers: [PeerFigures]
        let assets: AssetFigures
        let zones: [ZoneFigures]
        let refused: [RefusedFigures]
        let unsynced: [UnsyncedFigures]
        let alarms: [AlarmFigures]
        @OrNull var awaitedCopy: String?
        let sync: Bool
        let mailboxes: [MailboxFigures]
    }

    /// A row that cannot sync and stays on this machine.
    private struct UnsyncedFigures: Encodable {
        let table: String
        let name: String
        let reason: String

        init(_ unsynced: UnsyncedRecord) {
            table = unsynced.table
            name = unsynced.name
            reason = unsynced.reason.description
        }
    }

    /// A record whose local writes a peer has refused.
    private struct RefusedFigures: Encodable {
        let name: String
        let peer: String
        let zone: String
        let reason: String

        init(_ refused: RefusedRecord) {
            name = refused.name.description
            peer = refused.peer
            zone = refused.zone
            reason = refused.reason.description
        }
    }
}

extension StoreCheck.Finding.Kind {
    var text: String {
        switch self {
        case .unknownRow: "is in its table, but sync does not know it"
        case .changedRow: "was changed in its table without sync noticing"
        case .missingRow: "is gone from its table without having been deleted"
        case .invalidName: "has a name that cannot be synced"
        case .damagedMetadata: "has damaged metadata"
        case .wrongIndex: "does not agree with sync's lists of references and pictures"
        case .tooLarge: "is too large to be synced"
        }
    }
}
