"""Keys, places and seals of a mailbox (mailbox.md 2)."""

import hashlib
import struct
from dataclasses import dataclass
from enum import IntEnum

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

from ..channel import APP_ID
from ..errors import PeerError
from ..noise import KeyPair
from ..wire import Writer

VERSION = 1
OBJECT_LIMIT = 18 << 20
NONCE_BYTES, TAG_BYTES = 24, 16
SIGNATURE_BYTES = 64
NOTHING = bytes(16)
"""What stands in the place of a log where there is none."""


class Damaged(PeerError):
    """An object that does not open, is malformed, or is too large (mailbox.md 2.3): nothing of it is used."""


def derive(key: bytes, purpose: str, data: bytes, length: int) -> bytes:
    content = Writer().text(purpose).put(data).data()
    return hashlib.blake2b(content, digest_size=length, key=key).digest()


def app_field() -> bytes:
    """The app id behind its length."""
    return Writer().sized(APP_ID).data()


@dataclass(frozen=True)
class Author:
    """A machine as the storage knows it, with what it can derive from its static secret key."""

    identity: KeyPair

    @property
    def key(self) -> bytes:
        return self.identity.public

    @property
    def id(self) -> bytes:
        return derive(self.identity.secret, "author", app_field(), 16)

    @property
    def signing_seed(self) -> bytes:
        return derive(self.identity.secret, "signature", app_field(), 32)

    @property
    def verification_key(self) -> bytes:
        return Ed25519PrivateKey.from_private_bytes(self.signing_seed).public_key().public_bytes_raw()

    def log_key(self, log: bytes) -> bytes:
        return derive(self.identity.secret, "log", app_field() + log, 32)

    def file_key(self, epoch: bytes) -> bytes:
        return derive(self.identity.secret, "files", app_field() + epoch, 32)

    def sign(self, content: bytes) -> bytes:
        return Ed25519PrivateKey.from_private_bytes(self.signing_seed).sign(content)

    def slot_key(self, author: bytes, reader: bytes, counter: int) -> bytes | None:
        """The key of the slot that one of two machines, of which this is one, makes for the other.

        None where the Diffie-Hellman result is zero: such a key makes no slot and opens none.
        """
        other = reader if author == self.key else author
        try:
            shared = X25519PrivateKey.from_private_bytes(self.identity.secret).exchange(
                X25519PublicKey.from_public_bytes(other)
            )
        except ValueError:
            return None
        return derive(shared, "slot", author + reader + counter.to_bytes(8, "big"), 32)


def is_signed(verification_key: bytes, signature: bytes, content: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(verification_key).verify(signature, content)
    except Exception:  # a key that is none is as bad as a signature that is none
        return False
    return True


class Kind(IntEnum):
    SLOT = 1
    SECTION = 2
    CORE = 3
    SEGMENT = 4
    PIECE = 5


def place(kind: Kind, author_key: bytes, author_id: bytes, number: int, log: bytes = NOTHING, hash: bytes = b"") -> bytes:
    """Where an object lies (mailbox.md 2.2). `hash` is that of the file of a piece."""
    writer = Writer().text("scorebook-peer mailbox").u8(VERSION).u8(kind).put(app_field())
    return writer.put(author_key).put(author_id).put(log).u64(number).put(hash).data()


def padme(x: int) -> int:
    """The PADMÉ length of x."""
    if x < 2:
        return x
    exponent = x.bit_length() - 1
    step = 1 << (exponent - exponent.bit_length())
    return -(-x // step) * step


def padded_length(length: int) -> int:
    """The length of a plaintext with its padding, of which the least is one byte."""
    return padme(length + 1)


def pad(plaintext: bytes, length: int | None = None) -> bytes:
    """`length` is that with the padding, where something else than the plaintext decides it."""
    return (plaintext + b"\x80").ljust(length or padded_length(len(plaintext)), b"\0")


def unpad(padded: bytes) -> bytes:
    plaintext = padded.rstrip(b"\0")
    if not plaintext.endswith(b"\x80"):
        raise Damaged("an object has no padding")
    return plaintext[:-1]


def seal(key: bytes, place: bytes, plaintext: bytes, nonce: bytes, padded: int | None = None) -> bytes:
    return nonce + _cipher(key, nonce).encrypt(_short_nonce(nonce), pad(plaintext, padded), place)


def unseal(key: bytes, place: bytes, content: bytes) -> bytes:
    if len(content) < NONCE_BYTES + TAG_BYTES:
        raise Damaged("an object is too short")
    nonce = content[:NONCE_BYTES]
    try:
        padded = _cipher(key, nonce).decrypt(_short_nonce(nonce), content[NONCE_BYTES:], place)
    except InvalidTag:
        raise Damaged("an object does not open") from None
    return unpad(padded)


# XChaCha20-Poly1305: the package `cryptography` has ChaCha20 and ChaCha20-Poly1305, and HChaCha20 follows from the
# first: it is its block function without the last step, which adds what the block began with.


def _cipher(key: bytes, nonce: bytes) -> ChaCha20Poly1305:
    return ChaCha20Poly1305(hchacha20(key, nonce[:16]))


def _short_nonce(nonce: bytes) -> bytes:
    return bytes(4) + nonce[16:]


def hchacha20(key: bytes, nonce: bytes) -> bytes:
    block = Cipher(ChaCha20(key, nonce), None).encryptor().update(bytes(64))
    words = struct.unpack("<16I", block)
    begun = struct.unpack("<16I", b"expand 32-byte k" + key + nonce)
    result = [(word - first) & 0xFFFF_FFFF for word, first in zip(words, begun)]
    return struct.pack("<8I", *result[:4], *result[12:])
