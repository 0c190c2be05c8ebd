import PeerSyncModel
import PeerSyncStore

/// What the facts of a store say.
enum StoreChecks {
    /// Less room than a session may need at once, for batches and the log of the database.
    static let noRoom: Int64 = 1 << 20
    /// Less room than a copy of an ordinary store takes.
    static let littleRoom: Int64 = 64 << 20

    static func disk(_ store: StoreFacts) -> [Finding] {
        if store.state == .missing { return [] }
        if store.isReadOnlyDisk { return [Finding(.problem, .readOnlyDisk, subject: store.directory)] }
        var findings = store.unwritable.map { Finding(.problem, .unwritable, subject: $0) }
        if let left = store.bytesLeft, left < littleRoom {
            findings.append(
                left < noRoom
                    ? Finding(.problem, .diskFull, subject: store.directory, number: left)
                    : Finding(.warning, .diskAlmostFull, subject: store.directory, number: left))
        }
        return findings
    }

    static func key(_ store: StoreFacts) -> [Finding] {
        switch store.key {
        case .good: []
        case .missing where store.state == .missing: []
        case .missing: [Finding(.problem, .noKey, subject: store.keyFile)]
        case .unusable(let code):
            [Finding(.problem, .keyUnusable, subject: store.keyFile, error: code)]
        }
    }

    static func state(_ store: StoreFacts) -> [Finding] {
        switch store.state {
        case .missing: [Finding(.problem, .noStore, subject: store.directory)]
        case .unreadable(let path): [Finding(.problem, .unreadable, subject: path)]
        case .damaged: [Finding(.problem, .damaged, subject: store.database)]
        case .newer: [Finding(.problem, .newerStore, subject: store.database)]
        case .unusable: [Finding(.problem, .storeUnusable, subject: store.database)]
        case .read(let content) where content.unsound > 0:
            [Finding(.problem, .unsound, number: Int64(content.unsound))]
        case .read(let content): [Finding(.fine, .sound, number: Int64(content.live))]
        }
    }

    static func records(_ store: StoreFacts) -> [Finding] {
        guard case .read(let content) = store.state else { return [] }
        var findings: [Finding] = []
        if !content.isSyncOn { findings.append(Finding(.problem, .switchedOff)) }
        for (group, count) in content.refused.sorted(by: {
            ($0.key.peer, $0.key.zone) < ($1.key.peer, $1.key.zone)
        }) {
            findings.append(
                Finding(.warning, .refused, peer: group.peer, subject: group.zone, number: Int64(count)))
        }
        if content.held > 0 { findings.append(Finding(.warning, .held, number: Int64(content.held))) }
        if content.unsynced > 0 {
            findings.append(Finding(.warning, .unsynced, number: Int64(content.unsynced)))
        }
        return findings
    }
}
