"""Segments of logs, and pieces of files (mailbox.md 4, 8)."""

import hashlib
import secrets
from dataclasses import dataclass

from ..batch import Batch
from ..errors import Malformed
from ..names import ZoneID
from ..wire import Reader, Writer
from .sealing import NONCE_BYTES, OBJECT_LIMIT, SIGNATURE_BYTES, Author, Damaged, Kind, derive, is_signed, place, seal, unseal

PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class Signer:
    """An author as its readers know it from a head."""

    key: bytes
    id: bytes
    verification_key: bytes


def segment_name(log_key: bytes, number: int) -> str:
    return derive(log_key, "segment name", number.to_bytes(8, "big"), 16).hex()


def seal_segment(
    author: Author, log: bytes, log_key: bytes, number: int, zone: ZoneID, batch: Batch, nonce: bytes | None = None
) -> bytes:
    """`nonce` is fixed by the test vectors, otherwise random."""
    body = Writer()
    zone.write(body)
    body.put(batch.encode())
    where = place(Kind.SEGMENT, author.key, author.id, number, log)
    signature = author.sign(_signed(where, body.data()))
    return seal(derive(log_key, "segment", b"", 32), where, signature + body.data(), nonce or secrets.token_bytes(NONCE_BYTES))


def open_segment(
    signer: Signer, log: bytes, log_key: bytes, number: int, zone: ZoneID, content: bytes, end: int | None = None
) -> Batch:
    """The batch of a segment, which must be one of this zone, and whose token has the sequence `end`, if the head tells it."""
    if len(content) > OBJECT_LIMIT:
        raise Damaged("a segment is too large")
    where = place(Kind.SEGMENT, signer.key, signer.id, number, log)
    plaintext = unseal(derive(log_key, "segment", b"", 32), where, content)
    signature, body = plaintext[:SIGNATURE_BYTES], plaintext[SIGNATURE_BYTES:]
    if not is_signed(signer.verification_key, signature, _signed(where, body)):
        raise Damaged("the signature of a segment is wrong")
    reader = Reader(body)
    try:
        named, batch = ZoneID.read(reader), Batch.read(reader)
    except Malformed as error:
        raise Damaged(str(error)) from None
    if named != zone or batch.loose:
        raise Damaged("a segment is of another zone, or loose")
    if end is not None and batch.token.sequence != end:
        raise Damaged("a segment is another one than its author's head names")
    return batch


def _signed(where: bytes, body: bytes) -> bytes:
    hash = hashlib.blake2b(body, digest_size=32).digest()
    return Writer().text("scorebook-peer mailbox segment").put(where).put(hash).data()


def pieces_of(size: int) -> int:
    """How many pieces a file has; an empty one has one."""
    return max(1, -(-size // PIECE_BYTES))


def piece_name(file_key: bytes, hash: bytes, piece: int) -> str:
    return derive(file_key, "piece name", hash + piece.to_bytes(8, "big"), 16).hex()


def seal_piece(
    author: Author, epoch: bytes, file_key: bytes, hash: bytes, piece: int, content: bytes, nonce: bytes | None = None
) -> bytes:
    where = place(Kind.PIECE, author.key, author.id, piece, epoch, hash)
    return seal(derive(file_key, "piece", b"", 32), where, content, nonce or secrets.token_bytes(NONCE_BYTES))


def open_piece(signer: Signer, epoch: bytes, file_key: bytes, hash: bytes, piece: int, content: bytes) -> bytes:
    where = place(Kind.PIECE, signer.key, signer.id, piece, epoch, hash)
    plaintext = unseal(derive(file_key, "piece", b"", 32), where, content)
    if len(plaintext) > PIECE_BYTES:
        raise Damaged("a piece of a file is too large")
    return plaintext
