import PeerSync
import Synchronization

/// What people have not heard of yet: what changed here since the last line about each machine and zone.
struct SyncNews {
    private struct Side: Hashable {
        let peer: String
        let zone: String?
    }

    private var arrived: [Side: ArrivedChanges] = [:]
    /// The number of records that the session with a machine had sent at its last line.
    private var sent: [String: Int] = [:]
    /// The machines with which a session has begun and no line has said so.
    private var isNew: Set<String> = []
    /// The numbers of the alarms that a line has told.
    private var alarms: Set<String> = []

    mutating func begin(_ peer: String) {
        sent[peer] = 0
        isNew.insert(peer)
    }

    /// Whether no line has told an alarm yet.
    mutating func isUntold(_ alarm: FuseAlarm) -> Bool { alarms.insert(alarm.id).inserted }

    mutating func note(_ changes: ArrivedChanges, of peer: String, in zone: String?) {
        arrived[Side(peer: peer, zone: zone), default: ArrivedChanges()].append(changes)
    }

    mutating func take(_ peer: String, _ zone: String?) -> ArrivedChanges? {
        arrived.removeValue(forKey: Side(peer: peer, zone: zone))
    }

    mutating func takeAll(_ peer: String) -> [(zone: String?, changes: ArrivedChanges)] {
        let sides = arrived.keys.filter { $0.peer == peer }.sorted { ($0.zone ?? "") < ($1.zone ?? "") }
        return sides.map { ($0.zone, arrived.removeValue(forKey: $0) ?? ArrivedChanges()) }
    }

    /// Returns the lines about two machines that are in sync, as in “kitchen: Grace's score in Hearts”; none if there is nothing
    /// new.
    mutating func lines(_ words: [String], _ peer: String, _ zone: String?, _ statistics: SessionStatistics)
        -> [String]
    {
        let count = statistics.recordsSent - (sent.updateValue(statistics.recordsSent, forKey: peer) ?? 0)
        let records = count > 0 ? ["sent \(count.counted("record"))"] : []
        if isNew.remove(peer) != nil {
            let place = zone.map { " in “\($0)”" } ?? ""
            let parts = words + records
            return [
                "in sync with \(peer)\(place)" + (parts.isEmpty ? "" : ": \(parts.joined(separator: ", "))")
            ]
        }
        return (words.isEmpty ? [] : [Self.line(words, peer, zone)]) + records.map { "\($0) to \(peer)" }
    }

    static func line(_ parts: [String], _ peer: String, _ zone: String?) -> String {
        "\(peer)\(zone.map { ", “\($0)”" } ?? ""): \(parts.joined(separator: ", "))"
    }
}

/// What a sync that was asked for once has changed here, in all zones, and what has become of two scorebooks that met.
final class Arrivals: Sendable {
    private struct State {
        var changes = ArrivedChanges()
        var machine: String?
        var backup: String?
        var isUnionPassedOver = false
    }

    private let state = Mutex(State())

    var all: ArrivedChanges { state.withLock { $0.changes } }

    /// What the other machine is called; nil before that is known.
    var machine: String? { state.withLock { $0.machine } }

    /// The path of the backup of what was here; nil if nothing was replaced here.
    var backup: String? { state.withLock { $0.backup } }

    func take(_ event: SyncEvent) {
        state.withLock { state in
            switch event {
            case .paired(let name), .connected(let name, _): state.machine = name
            case .changed(_, _, let changes): state.changes.append(changes)
            case .replaced(_, let backup): state.backup = backup.path
            case .unionPassedOver: state.isUnionPassedOver = true
            default: break
            }
        }
    }

    /// What programs read of the sync.
    func figures(_ report: SyncReport) -> SyncFigures {
        var figures = SyncFigures(report.statistics, report.digest)
        state.withLock { state in
            figures.backup = state.backup
            figures.union = state.isUnionPassedOver ? "passedOver" : nil
        }
        return figures
    }
}
