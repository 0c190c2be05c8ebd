import PeerSync

/// What came through a mailbox and nobody has printed yet.
struct MailboxNews {
    private var arrived: [(machine: String, zone: String?, changes: ArrivedChanges)] = []

    mutating func note(_ changes: ArrivedChanges, of machine: String, in zone: String?) {
        if let index = arrived.firstIndex(where: { $0.machine == machine && $0.zone == zone }) {
            arrived[index].changes.append(changes)
        } else {
            arrived.append((machine, zone, changes))
        }
    }

    mutating func take() -> [(machine: String, zone: String?, changes: ArrivedChanges)] {
        defer { arrived = [] }
        return arrived
    }
}
