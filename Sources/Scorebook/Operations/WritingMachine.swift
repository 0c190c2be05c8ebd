import GRDB
import PeerSync

/// The machine that wrote or deleted something, as people know it.
public enum WritingMachine: Sendable, Hashable {
    /// This machine.
    case here
    /// A machine that is paired with this one, or the program that wrote an imported file.
    case named(String)
    /// A machine whose name this one does not know.
    case unknown
}

extension ScorebookStore {
    /// The machines whose names are known, by the id in their stamps.
    public func writingMachines() async throws -> [ReplicaID: WritingMachine] {
        try await records.database.read { [self] db in try writingMachines(db) }
    }

    func writingMachines(_ db: Database) throws -> [ReplicaID: WritingMachine] {
        var machines = try Dictionary(
            records.peers.all(db).map { (ReplicaID(hashing: $0.publicKey), WritingMachine.named($0.name)) },
            uniquingKeysWith: { first, _ in first })
        machines[BGStatsMapping.origin] = .named("BG Stats")
        machines[BGGStamp.origin] = .named("BoardGameGeek")
        machines[records.replica] = .here
        return machines
    }
}
