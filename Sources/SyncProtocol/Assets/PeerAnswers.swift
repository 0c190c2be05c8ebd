import SyncModel

/// What a peer was asked for and has not answered: each request for a piece of a file, in the order in which the answers
/// come.
///
/// A request is answered by all of its bytes, or by fewer and the word that the rest is missing. So it is always known
/// which request an answer is to, also when the file was given up, or is wanted again, since.
struct PeerAnswers: Sendable {
    private struct Answer {
        var next: Int64
        let end: Int64
        /// Not when the file was given up since it was asked for.
        var isWanted = true
    }

    private var owed: [AssetHash: [Answer]] = [:]
    /// Bytes that may still come and that nobody wants.
    private(set) var droppedBytes: Int64 = 0

    var isEmpty: Bool { owed.isEmpty }

    func areOwed(_ hash: AssetHash) -> Bool { owed[hash] != nil }

    mutating func expect(_ hash: AssetHash, from offset: Int64, count: Int64) {
        owed[hash, default: []].append(Answer(next: offset, end: offset + count))
    }

    /// What was asked of a file is not wanted any more.
    mutating func drop(_ hash: AssetHash) {
        guard var answers = owed[hash] else { return }
        for index in answers.indices where answers[index].isWanted {
            answers[index].isWanted = false
            droppedBytes += answers[index].end - answers[index].next
        }
        owed[hash] = answers
    }

    /// - Returns: whether the bytes are wanted.
    mutating func received(_ chunk: Message.AssetChunk) throws(ProtocolError) -> Bool {
        let count = Int64(chunk.bytes.readableBytes)
        guard let answer = owed[chunk.hash]?.first, count > 0, chunk.offset == UInt64(answer.next),
            count <= answer.end - answer.next
        else {
            throw .unexpected("sent bytes of a file that it was not asked for")
        }
        owed[chunk.hash]![0].next += count
        if !answer.isWanted { droppedBytes -= count }
        if answer.next + count == answer.end { removeFirst(chunk.hash) }
        return answer.isWanted
    }

    /// - Returns: whether the file is still wanted.
    mutating func receivedMissing(_ hash: AssetHash) throws(ProtocolError) -> Bool {
        guard let answer = owed[hash]?.first else {
            throw .unexpected("misses a file that it was not asked for")
        }
        if !answer.isWanted { droppedBytes -= answer.end - answer.next }
        removeFirst(hash)
        return answer.isWanted
    }

    private mutating func removeFirst(_ hash: AssetHash) {
        owed[hash]!.removeFirst()
        if owed[hash]!.isEmpty { owed[hash] = nil }
    }
}
