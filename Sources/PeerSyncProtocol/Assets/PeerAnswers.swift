import PeerSyncModel

/// The requests for pieces of files that a peer has not answered yet, in the order of its answers.
///
/// The peer answers a request with all of its bytes, or with fewer and the message that the rest is missing. So this
/// side always knows which request an answer belongs to, even if it has since given the file up or wants it again.
struct PeerAnswers: Sendable {
    private struct Answer {
        var next: Int64
        let end: Int64
        /// False if this side has given the file up since the request.
        var isWanted = true
    }

    private var owed: [AssetHash: [Answer]] = [:]
    /// Bytes that may still come although nobody wants them.
    private(set) var droppedBytes: Int64 = 0

    var isEmpty: Bool { owed.isEmpty }

    func areOwed(_ hash: AssetHash) -> Bool { owed[hash] != nil }

    mutating func expect(_ hash: AssetHash, from offset: Int64, count: Int64) {
        owed[hash, default: []].append(Answer(next: offset, end: offset + count))
    }

    /// Notes that nobody wants the requested bytes of a file any more.
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
