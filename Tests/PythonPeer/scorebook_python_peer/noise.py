"""Noise_XX_25519_ChaChaPoly_SHA256 (Noise Protocol Framework revision 34), as protocol.md section 3 uses it.

The handshake is that of the package `noiseprotocol`; what comes after it stands here, because of the rekey.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from noise.connection import Keypair, NoiseConnection
from noise.exceptions import NoiseHandshakeError, NoiseInvalidMessage, NoiseValueError

from .errors import ConnectionCut

PROTOCOL_NAME = b"Noise_XX_25519_ChaChaPoly_SHA256"
KEY_BYTES = 32
TAG_BYTES = 16
LAST_NONCE = (1 << 64) - 1
REKEY_INTERVAL = 65_536


class HandshakeFailed(ConnectionCut):
    """The handshake ended without a word (protocol.md 3)."""


class KeyPair:
    """A static or ephemeral X25519 key pair."""

    def __init__(self, secret: bytes) -> None:
        self._key = X25519PrivateKey.from_private_bytes(secret)
        self.secret = secret
        self.public = self._key.public_key().public_bytes_raw()

    @classmethod
    def generate(cls) -> "KeyPair":
        return cls(X25519PrivateKey.generate().private_bytes_raw())


class TransportCipher:
    """One direction of the transport phase, with the rekey of protocol.md 3.5."""

    def __init__(self, key: bytes, nonce: int = 0) -> None:
        self.key = key
        self.nonce = nonce
        self._cipher = ChaCha20Poly1305(key)

    def encrypt(self, plaintext: bytes) -> bytes:
        content = self._cipher.encrypt(self._nonce_bytes(), plaintext, None)
        self._advance()
        return content

    def decrypt(self, content: bytes) -> bytes:
        """The plaintext. The nonce does not move if it fails."""
        try:
            plaintext = self._cipher.decrypt(self._nonce_bytes(), content, None)
        except InvalidTag:
            raise ConnectionCut("a frame does not decrypt") from None
        self._advance()
        return plaintext

    def _nonce_bytes(self) -> bytes:
        if self.nonce >= LAST_NONCE:
            raise ConnectionCut("the nonces of a direction are used up")
        return nonce_bytes(self.nonce)

    def _advance(self) -> None:
        self.nonce += 1
        if self.nonce % REKEY_INTERVAL == 0:
            self.key = rekey(self.key)
            self._cipher = ChaCha20Poly1305(self.key)


def nonce_bytes(number: int) -> bytes:
    """32 zero bits, then the number, least significant byte first."""
    return bytes(4) + number.to_bytes(8, "little")


def rekey(key: bytes) -> bytes:
    """Noise's REKEY(k)."""
    return ChaCha20Poly1305(key).encrypt(nonce_bytes(LAST_NONCE), bytes(KEY_BYTES), None)[:KEY_BYTES]


class Handshake:
    """The three messages of XX, from either side. The package `noiseprotocol` does it; Noise names nothing but errors."""

    def __init__(self, is_caller: bool, static: KeyPair, prologue: bytes, ephemeral: KeyPair | None = None) -> None:
        self._is_caller = is_caller
        self._noise = NoiseConnection.from_name(PROTOCOL_NAME)
        self._noise.set_prologue(prologue)
        self._noise.set_keypair_from_private_bytes(Keypair.STATIC, static.secret)
        if is_caller:
            self._noise.set_as_initiator()
        else:
            self._noise.set_as_responder()
        with warnings.catch_warnings():
            if ephemeral is not None:
                warnings.simplefilter("ignore")  # that fixed ephemeral keys are for tests: they are
                self._noise.set_keypair_from_private_bytes(Keypair.EPHEMERAL, ephemeral.secret)
            self._noise.start_handshake()
        # It is let go of at the end of the handshake, and knows the other side's key until then.
        self._state = self._noise.noise_protocol.handshake_state

    @property
    def remote_static(self) -> bytes:
        """The other side's static key, once the message that has it was read."""
        return self._state.rs.public_bytes

    @property
    def hash(self) -> bytes:
        """The handshake hash, once the third message is through."""
        return self._noise.get_handshake_hash()

    def write(self, payload: bytes) -> bytes:
        """The next message, if it is this side's turn."""
        with _failing():
            return bytes(self._noise.write_message(payload))

    def read(self, message: bytes) -> bytes:
        """The payload of the other side's next message."""
        with _failing():
            return bytes(self._noise.read_message(message))

    def ciphers(self) -> tuple["TransportCipher", "TransportCipher"]:
        """The ciphers for sending and for receiving (protocol.md 3.4)."""
        protocol = self._noise.noise_protocol
        return TransportCipher(protocol.cipher_state_encrypt.k), TransportCipher(protocol.cipher_state_decrypt.k)


@contextmanager
def _failing() -> Iterator[None]:
    """Whatever the package says of a message that is none, the handshake has failed."""
    try:
        yield
    except (NoiseInvalidMessage, NoiseHandshakeError, NoiseValueError, InvalidTag, ValueError):
        raise HandshakeFailed("a handshake message that is none") from None
