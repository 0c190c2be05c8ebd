import Foundation
import PeerSync
import PeerSyncMailbox
import Scorebook

/// What `status` says to people.
struct StatusText {
    let status: StoreStatus
    let assets: AssetFigures
    let peers: [PeerFigures]
    let mailboxes: [MailboxEntry]
    let store: OpenStore
    /// Whether to show what only programs and experts understand.
    let isVerbose: Bool

    func write() async throws {
        var rows = isVerbose ? counts : try await words()
        rows.append(["pending", pending])
        rows += obstacles
        rows += copy
        if StoreClock.isTooFarAhead(status.clockAhead) {
            let ahead = Duration.milliseconds(status.clockAhead).formatted(
                .time(pattern: .hourMinuteSecond).locale(.ofSentences))
            rows.append(["clock", "wrote \(ahead) in the future; see scorebook-peer clock"])
        }
        rows += status.alarms.map { alarm in
            ["decide", "\(alarm.words); `sync alarms` shows what, and how to decide"]
        }
        rows += try await refused()
        rows += unsynced()
        for mailbox in mailboxes {
            let troubles = mailbox.machines.compactMap { machine in
                mailbox.trouble(of: machine).map { "“\(mailbox.name)”: \($0)" }
            }
            for line in [words(mailbox)] + troubles {
                rows.append(["mailbox", await store.scorebook.told(line)])
            }
        }
        if !status.isSyncOn { rows.append(["sync", "off; scorebook-peer sync on switches it on"]) }
        if isVerbose {
            rows +=
                status.zones.count == 1
                ? [["digest", Self.digest(status.digest)]]
                : status.zones.map { ["zone \($0.name)", Self.digest($0.digest)] }
        }
        Terminal.write(alignedTexts(rows, to: Terminal.width))
        guard !peers.isEmpty else { return }
        Terminal.write("")
        PeerFigures.writeTable(peers, store.scorebook.time, isVerbose: isVerbose)
        for peer in status.peers {
            if let error = await store.scorebook.lastError(of: peer) {
                Terminal.write("\(peer.name): \(Hint.naming(peer.name, in: error, about: error))")
            }
        }
    }

    static func digest(_ digest: ZoneDigest) -> String {
        "\(digest.hex) over \(Int(digest.count).counted("record"))"
    }

    // MARK: Rows

    private func words() async throws -> [[String]] {
        var rows = [["scorebook", store.directory.path]]
        for (kind, label) in [
            (RecordKind.match, "matches"), (.game, "games"), (.person, "persons"), (.score, "scores"),
        ] {
            rows.append([label, (status.records[kind.recordType] ?? 0).grouped])
        }
        if assets.files > 0 { rows.append(["pictures", assets.summary]) }
        let records = store.scorebook.records
        let deleted = try await records.database.read { try records.listing.deleted($0).count }
        if deleted > 0 {
            rows.append(["deleted", "\(deleted.grouped) can be restored; `record list --deleted` shows what"])
        }
        if status.held > 0 {
            rows.append(["waiting", "\(held); `record list --held` says for what"])
        }
        return rows
    }

    private var counts: [[String]] {
        var rows = [
            ["store", store.directory.path], ["key", String(store.identity.publicKey.hex.prefix(16)) + "…"],
        ]
        for kind in RecordKind.allCases {
            rows.append([kind.recordType, (status.records[kind.recordType] ?? 0).grouped])
        }
        if assets.files > 0 { rows.append(["pictures", assets.summary]) }
        let hint = status.tombstones == 0 ? "" : "; `record list --deleted` shows what can be restored"
        rows.append(["deleted", "\(status.tombstones.grouped) remembered\(hint)"])
        if status.hidden > 0 {
            rows.append(["hidden", "\(status.hidden.grouped) gone with a deleted record"])
        }
        if status.held > 0 { rows.append(["held", "\(held); `record list --held` says for what"]) }
        return rows
    }

    private var held: String { "\(status.held.grouped) wait for what they need" }

    private func words(_ mailbox: MailboxEntry) -> String {
        let since = mailbox.lastSync.map { "in step \(store.scorebook.time.text($0))" } ?? "not used yet"
        return "“\(mailbox.name)”: " + (mailbox.trouble ?? since)
            + (mailbox.trouble != nil && mailbox.lastSync != nil ? "; last \(since)" : "")
    }

    /// What each machine has not got yet: the numbers that the table has under BEHIND.
    private var pending: String {
        let behind = peers.filter { $0.awaitsChanges && $0.behind > 0 }
        guard !behind.isEmpty else { return "nothing" }
        let first = behind[0]
        return
            (["\(first.behind.counted("change")) for \(first.name)"]
            + behind.dropFirst().map { "\($0.behind.grouped) for \($0.name)" }).joined(separator: ", ")
    }

    /// One line if this scorebook was given up for another one, and that has not come whole.
    private var copy: [[String]] {
        guard let machine = status.awaitedCopy else { return [] }
        let way = Hint.filled("`scorebook-peer connect HOST --once` goes on", ["HOST": machine])
        let what = "that of \(machine) took the place of this scorebook, and may not have come whole"
        return [["copy", "\(what); \(way)"]]
    }

    /// One line for each zone that something keeps from a machine.
    private var obstacles: [[String]] {
        // Who lets this machine read nothing in a mailbox is named there.
        let named = mailboxes.flatMap(\.machines).filter { $0.error?.code == .notShared }.map(\.name)
        let awaiting = Set(peers.filter(\.awaitsChanges).map(\.name)).subtracting(named)
        return status.peerZones.filter { awaiting.contains($0.peer) }.compactMap { zone in
            zone.obstacleText(hasZones: status.zones.count > 1, hasMailbox: !mailboxes.isEmpty).map {
                [zone.obstacle == .notShared || zone.obstacle == .notGranted ? "not shared" : "pending", $0]
            }
        }
    }

    /// Returns one line for each machine, zone and reason of a refusal.
    private func refused() async throws -> [[String]] {
        let groups = Dictionary(grouping: status.refused) { [$0.peer, $0.zone, $0.reason.description] }
        var rows: [[String]] = []
        for (_, records) in groups.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            let first = records[0]
            let wayOut =
                first.reason == .tooLarge
                ? "too large for it; make them smaller" : "`zone restore` gives them up"
            let name =
                isVerbose ? first.name.description : try await store.scorebook.phrase(for: first.name)
            rows.append([
                "refused",
                "\(records.count.counted("record")) of the zone “\(first.zone)” by \(first.peer), as \(name); \(wayOut)",
            ])
        }
        for machine in mailboxes.flatMap(\.machines) where machine.furtherRefused > 0 {
            rows.append([
                "refused",
                "\(machine.furtherRefused.counted("record")) more by \(machine.name), which names only some",
            ])
        }
        return rows
    }

    /// Returns one line for each reason why rows stay on this machine.
    private func unsynced() -> [[String]] {
        let groups = Dictionary(grouping: status.unsynced, by: \.reason.description)
        let isCut = status.unsyncedCount > status.unsynced.count
        return groups.sorted { $0.key < $1.key }.map { _, records in
            let first = records[0]
            let count = (isCut ? "at least " : "") + records.count.counted("row")
            // Only the name leads to a row that sync does not know.
            return [
                "not synced", "\(count), as “\(first.name)” of \(first.table): \(Self.wayOut(first.reason))",
            ]
        }
    }

    private static func wayOut(_ reason: UnsyncedRecord.Reason) -> String {
        switch reason {
        case .name: "not a name that can be synced; another recordName mends that"
        case .size: "too large to be synced; make it smaller than 8 MiB"
        case .file: "its table lets no text name its file, so it keeps the bytes; the other machines have it"
        case .text:
            "it has a text that is no UTF-8; the other machines have “\u{FFFD}” in place of what is not; another text mends that"
        default: "\(reason)"
        }
    }
}
