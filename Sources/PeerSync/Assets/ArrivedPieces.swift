import NIOCore
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore

/// The bytes of files that have come and wait to be written, as one piece for each file.
///
/// Chunks that follow each other join one piece, so a peer that sends a byte at a time costs no more than one that
/// sends all at once. The receiver's requests bound the pieces.
///
/// A piece belongs to the file that was open when it came. It holds that file, so nobody opens the file again while
/// the piece waits. A file that is opened later is requested anew.
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
            // The waiting piece does not join this chunk, so it belongs to a transfer that was given up.
            pieces[chunk.hash] = Piece(file: file, offset: chunk.offset, bytes: chunk.bytes)
        }
    }

    /// Takes the piece of one of the files.
    mutating func take() -> (hash: AssetHash, piece: Piece)? {
        pieces.popFirst().map { ($0.key, $0.value) }
    }
}
