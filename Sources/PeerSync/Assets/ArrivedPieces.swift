import NIOCore
import RecordStore
import SyncModel
import SyncProtocol

/// Bytes of files that have come and were not written yet: one piece for each file, however many chunks it came in, so that
/// a peer that sends a byte at a time costs no more than one that sends all at once. Bounded by what the receiver asks for.
///
/// They belong to the file that was open when they came and to no other: one that is opened later, after the first was
/// given up, is asked for anew. Nobody opens it while these wait, because they hold the file.
struct ArrivedPieces {
    struct Piece {
        let file: IncomingAsset?
        let offset: UInt64
        fileprivate(set) var bytes: ByteBuffer
    }

    private var pieces: [AssetHash: Piece] = [:]

    var count: Int { pieces.count }

    mutating func add(_ chunk: Message.AssetChunk, to file: IncomingAsset?) {
        if let piece = pieces[chunk.hash], piece.file === file,
            piece.offset + UInt64(piece.bytes.readableBytes) == chunk.offset
        {
            pieces[chunk.hash]?.bytes.writeImmutableBuffer(chunk.bytes)
        } else {
            // What waits and does not go on with this belongs to a transfer that was given up.
            pieces[chunk.hash] = Piece(file: file, offset: chunk.offset, bytes: chunk.bytes)
        }
    }

    /// Takes what has come of one of the files.
    mutating func take() -> (hash: AssetHash, piece: Piece)? {
        pieces.popFirst().map { ($0.key, $0.value) }
    }
}
