import PeerSyncModel

/// What must hold of the files of simulated machines.
enum FileRules {
    /// Checks that each of these machines has every file that a record of its store needs and that one of them has, and
    /// has no file that differs from the one that a program once wrote.
    ///
    /// - Parameter before: the states before the session, if there was only one. A machine gives no file that none of
    ///   its own records needs. Of such a file, a session that ends at once may hear too late.
    static func check(
        _ replicas: [SimulatedReplica], _ states: [[RecordName: RecordState]],
        before: [[RecordName: RecordState]]? = nil
    ) throws {
        let held = Set(
            zip(replicas, before ?? states).flatMap { replica, states in
                needed(by: states).filter { replica.disk.files[$0] != nil }
            })
        for (replica, states) in zip(replicas, states) {
            for (hash, size) in replica.disk.files where SimulatedPictures.size(hash) != size {
                throw SimulationFailure("machine \(replica.number) has \(size) bytes of \(hash)")
            }
            let lacking = needed(by: states).filter { held.contains($0) && replica.disk.files[$0] == nil }
            guard lacking.isEmpty else {
                throw SimulationFailure(
                    "machine \(replica.number) lacks files that another machine has: \(lacking.sorted())")
            }
        }
    }

    /// The files of live records.
    private static func needed(by states: [RecordName: RecordState]) -> Set<AssetHash> {
        let fields = states.values.filter(\.isLive).flatMap(\.fields)
        return Set(
            fields.compactMap { field in
                if case .asset(let asset) = field.value { asset.hash } else { nil }
            })
    }
}
