"""CPACE-RISTR255-SHA512 of draft-irtf-cfrg-cpace-21, initiator-responder (protocol.md 4.3)."""

import hashlib
import hmac
import secrets

from .errors import PeerError
from .ristretto import ORDER, Element, one_way_map

DSI = b"CPaceRistretto255"
ZERO_PADDING = 102


class BadShare(PeerError):
    """A share that must end the pairing."""


def leb128(number: int) -> bytes:
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    digits.append(number)
    return bytes(digits)


def lv(*parts: bytes) -> bytes:
    """Each part behind its length."""
    return b"".join(leb128(len(part)) + part for part in parts)


def generator_hash(password: bytes, channel: bytes, session: bytes) -> bytes:
    """The 64 bytes that the generator is made of. The padding fills the first block of SHA-512."""
    padding = max(0, 128 - 1 - len(lv(password)) - len(lv(DSI)))
    return hashlib.sha512(lv(DSI, password, bytes(padding), channel, session)).digest()


def generator(password: bytes, channel: bytes, session: bytes) -> Element:
    return one_way_map(generator_hash(password, channel, session))


def random_scalar() -> int:
    return 1 + secrets.randbelow(ORDER - 1)


def shared_point(scalar: int, own_share: bytes, share: bytes) -> bytes:
    """K. A share that is no element, leads to the neutral one, or is one's own ends the pairing."""
    element = Element.decode(share)
    if element is None or share == own_share:
        raise BadShare("the other side's pairing share is bad")
    point = element.times(scalar)
    if point.is_neutral:
        raise BadShare("the other side's pairing share is bad")
    return point.encode()


def intermediate_session_key(session: bytes, point: bytes, yi: bytes, adi: bytes, yr: bytes, adr: bytes) -> bytes:
    return hashlib.sha512(lv(DSI + b"_ISK", session, point) + lv(yi, adi) + lv(yr, adr)).digest()


def confirmation_key(session: bytes, isk: bytes) -> bytes:
    return hashlib.sha512(b"CPaceMac" + session + isk).digest()


def tag(key: bytes, share: bytes, associated: bytes) -> bytes:
    return hmac.new(key, lv(share, associated), hashlib.sha512).digest()
