import SyncModel

/// Files in the order in which they are to be asked for, each at most once.
struct AssetQueue: Sendable {
    /// Those that are in the queue. The lists may name others: taking one out of the middle of a list takes long.
    private var members: Set<AssetHash> = []
    private var urgent: [AssetHash] = []
    private var list: [AssetHash] = []
    private var head = 0
    /// Members that were passed over.
    private var passed: [AssetHash] = []

    mutating func append(_ hash: AssetHash) {
        if members.insert(hash).inserted { list.append(hash) }
    }

    mutating func remove(_ hash: AssetHash) { members.remove(hash) }

    mutating func moveToFront(_ hash: AssetHash) {
        if members.contains(hash), !urgent.contains(hash) { urgent.append(hash) }
    }

    /// Takes the first file out that is ready.
    mutating func popFirst(where isReady: (AssetHash) -> Bool) -> AssetHash? {
        // There are few of both: what is waited for is bounded by what may be asked for at a time.
        if let hash = Self.take(from: &urgent, where: { members.contains($0) && isReady($0) })
            ?? Self.take(from: &passed, where: { members.contains($0) && isReady($0) })
        {
            members.remove(hash)
            return hash
        }
        while head < list.count {
            let hash = list[head]
            head += 1
            if head == list.count {
                list.removeAll()
                head = 0
            }
            guard members.contains(hash) else { continue }
            guard isReady(hash) else {
                if !passed.contains(hash) { passed.append(hash) }
                continue
            }
            members.remove(hash)
            return hash
        }
        return nil
    }

    private static func take(
        from line: inout [AssetHash], where isNext: (AssetHash) -> Bool
    ) -> AssetHash? {
        line.firstIndex(where: isNext).map { line.remove(at: $0) }
    }
}
