import SyncModel

/// The order in which files are to be asked for. It may name a file twice, and files that are not in line any more: the
/// owner knows which are.
struct AssetQueue: Sendable {
    private var urgent: [AssetHash] = []
    private var list: [AssetHash] = []
    private var head = 0
    /// Files whose turn came before they were ready.
    private var passed: [AssetHash] = []

    mutating func append(_ hash: AssetHash) { list.append(hash) }

    mutating func moveToFront(_ hash: AssetHash) {
        if !urgent.contains(hash) { urgent.append(hash) }
    }

    /// Takes the first file out that is in line and ready.
    mutating func popFirst(where isReady: (AssetHash) -> Bool, in isInLine: (AssetHash) -> Bool) -> AssetHash?
    {
        // There are few of both: what is waited for is bounded by what may be asked for at a time.
        if let hash = Self.take(from: &urgent, where: isReady, in: isInLine)
            ?? Self.take(from: &passed, where: isReady, in: isInLine)
        {
            return hash
        }
        while head < list.count {
            let hash = list[head]
            head += 1
            if head == list.count {
                list.removeAll()
                head = 0
            }
            guard isInLine(hash) else { continue }
            if isReady(hash) { return hash }
            if !passed.contains(hash) { passed.append(hash) }
        }
        return nil
    }

    private static func take(
        from line: inout [AssetHash], where isReady: (AssetHash) -> Bool, in isInLine: (AssetHash) -> Bool
    ) -> AssetHash? {
        line.removeAll { !isInLine($0) }
        return line.firstIndex(where: isReady).map { line.remove(at: $0) }
    }
}
