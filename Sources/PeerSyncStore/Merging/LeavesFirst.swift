import PeerSyncModel

/// Removes rows, each before its targets. Otherwise a foreign key's action would go down a chain of rows, and SQLite gives up
/// at a depth of 1,000.
struct LeavesFirst {
    private let names: [RecordName]
    private var targets: [RecordName: Set<RecordName>] = [:]
    private var waitedFor: [RecordName: Int] = [:]

    /// - Parameters:
    ///   - names: the records whose rows go.
    ///   - targets: gives the records that a row refers to.
    init(_ names: [RecordName], targets: (RecordName) throws -> Set<RecordName>) rethrows {
        self.names = names
        for name in names {
            let found = try targets(name).subtracting([name])
            guard !found.isEmpty else { continue }
            self.targets[name] = found
            for target in found { waitedFor[target, default: 0] += 1 }
        }
    }

    /// Removes the rows. It begins at the last one: a record that goes with another mostly comes after it.
    func run(_ remove: (RecordName) throws -> Void) rethrows {
        var waitedFor = waitedFor
        var left = Set(names)
        var free = names.filter { waitedFor[$0] == nil }
        while let name = free.popLast() {
            try remove(name)
            left.remove(name)
            for target in targets[name] ?? [] {
                waitedFor[target]! -= 1
                if waitedFor[target] == 0, left.contains(target) { free.append(target) }
            }
        }
        // The rest are records that refer to each other in a circle.
        for name in names.reversed() where left.contains(name) { try remove(name) }
    }
}
