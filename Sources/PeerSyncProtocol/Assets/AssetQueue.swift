import PeerSyncModel

/// The order in which this side asks for files. It may name a file twice, and files that are not in line any more; the
/// owner knows which files are in line.
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

    /// Removes and returns the first file that is in line and ready.
    mutating func popFirst(where isReady: (AssetHash) -> Bool, in isInLine: (AssetHash) -> Bool) -> AssetHash?
    {
        // Both lists are short: the limit on requests at a time bounds the files that wait.
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
