import PeerSyncModel
import TestSupport

/// Merging: a join-semilattice, whatever the states are.
enum MergeTarget {
    static func run(_ input: inout FuzzInput) throws {
        let states = (0..<3).map { _ in FuzzRecords.state(&input, name: FuzzRecords.names[0]) }
        try checkLaws(states)
        guard let first = states[0].fields.first else { return }
        var written = states[1]
        let before = written
        let didChange = written.write(first)
        try expect(didChange == (written != before), "a write does not know whether it changed anything")
        var merged = before
        merged.merge(RecordState(name: before.name, fields: [first]))
        try expect(merged == written, "a write is another thing than merging it")
        try checkErasing(states[0], states[1], at: FuzzRecords.stamp(&input))
    }

    /// - Parameter states: up to three states of one record.
    static func checkLaws(_ states: [RecordState]) throws {
        for (index, first) in states.enumerated() {
            try expect(merged(first, first) == first, "\(first) merged with itself changes")
            for second in states[(index + 1)...] {
                let both = merged(first, second)
                try expect(both == merged(second, first), "\(first) and \(second) depend on the order")
                try expect(merged(both, second) == both, "\(second) twice is not \(second) once")
                try checkJoin(both, of: first, second)
            }
            let transferred = first.transferred
            try expect(
                transferred.isDeleted == first.isDeleted && transferred.isLive == first.isLive,
                "\(first) travels as another thing")
            try expect(
                merged(first, transferred) == first, "what travels of \(first) says more than there is")
        }
        guard states.count == 3 else { return }
        let (first, second, third) = (states[0], states[1], states[2])
        try expect(
            merged(merged(first, second), third) == merged(first, merged(second, third)),
            "\(first), \(second) and \(third) depend on the order")
        // The sum of a zone does not depend on the order, either.
        var forth = ZoneDigest()
        var back = ZoneDigest()
        for state in states { forth.insert(RecordID(state)) }
        for state in states.reversed() { back.insert(RecordID(state)) }
        try expect(forth == back && forth.fingerprint == back.fingerprint, "a digest that knows an order")
    }

    /// What is deleted for ever is gone, whether the states met before or after that.
    private static func checkErasing(_ first: RecordState, _ second: RecordState, at stamp: Stamp) throws {
        var erased = first
        let didChange = erased.erase(at: stamp)
        try expect(didChange == (erased != first), "an erasing does not know whether it changed anything")
        var later = merged(first, second)
        later.erase(at: stamp)
        try expect(
            merged(erased, second) == later && merged(second, erased) == later,
            "\(first) and \(second) depend on when one of them is erased")
        try expect(erased.fields.allSatisfy { $0.stamp > stamp }, "\(erased) keeps what was erased")
        let isAnew = !erased.fields.isEmpty
        erased.raise(
            \.revival, to: Stamp(time: HybridTime(rawValue: .max), replica: ReplicaID(rawValue: .max)))
        try expect(isAnew || erased.isDeleted, "\(erased) is brought back by a revival")
    }

    private static func merged(_ left: RecordState, _ right: RecordState) -> RecordState {
        var result = left
        result.merge(right)
        return result
    }

    /// The join is what it was made of, and says rightly whether it is more than either.
    private static func checkJoin(_ join: RecordState, of left: RecordState, _ right: RecordState) throws {
        var copy = left
        try expect(copy.merge(right) == (join != left), "a merge does not know whether it changed anything")
        let names = Set(left.fields.map(\.name)).union(right.fields.map(\.name))
            .filter { name in
                // Of a field that both have, the later write may be newer than what was erased.
                let newest = latest(left.field(name)?.stamp, right.field(name)?.stamp)
                return join.erasure.map { newest! > $0 } ?? true
            }
        try expect(join.fields.map(\.name) == names.sorted(), "fields were lost, or are out of order")
        for field in join.fields {
            let sources = [left.field(field.name), right.field(field.name)].compactMap { $0 }
            try expect(sources.contains(field), "\(field) is nobody's write")
            try expect(sources.allSatisfy { !$0.beats(field) }, "\(field) won against a greater one")
        }
        try expect(join.deletion == latest(left.deletion, right.deletion), "the deletion is not the greater")
        try expect(join.erasure == latest(left.erasure, right.erasure), "the erasure is not the greater")
        if let erasure = join.erasure {
            try expect(join.deletion.map { $0 >= erasure } == true, "erased later than deleted")
        }
        try expect(join.revival == latest(left.revival, right.revival), "the revival is not the greater")
    }
}
