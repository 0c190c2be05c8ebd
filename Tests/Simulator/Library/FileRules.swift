import SyncModel

/// What must hold of the files of simulated machines.
enum FileRules {
    /// Checks that each of these machines has every file that a record of its store needs and that one of them has, and
    /// has no file that differs from the one that a program once wrote.
    static func check(_ replicas: [SimulatedReplica], _ states: [[RecordName: RecordState]]) throws {
        let held = Set(replicas.flatMap(\.disk.files.keys))
        for (replica, states) in zip(replicas, states) {
            for (hash, size) in replica.disk.files where SimulatedPictures.size(hash) != size {
                throw SimulationFailure("machine \(replica.number) has \(size) bytes of \(hash)")
            }
            let needed = states.values.filter(\.isLive).flatMap(\.fields).compactMap { field in
                if case .asset(let asset) = field.value { asset.hash } else { nil }
            }
            let lacking = Set(needed).filter { held.contains($0) && replica.disk.files[$0] == nil }
            guard lacking.isEmpty else {
                throw SimulationFailure(
                    "machine \(replica.number) lacks files that another machine has: \(lacking.sorted())")
            }
        }
    }
}
