"""The notation of protocol.md section 1: reading and writing with every bound checked."""

import re

from .errors import Malformed

VARINT_LIMIT = 1 << 62
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
IDENTIFIER_BYTES = 63


def encode_varint(number: int) -> bytes:
    """A QUIC varint (RFC 9000 section 16) of the fewest bytes."""
    if number < 0x40:
        return bytes((number,))
    if number < 0x4000:
        return (number | 0x4000).to_bytes(2, "big")
    if number < 0x4000_0000:
        return (number | 0x8000_0000).to_bytes(4, "big")
    if number < VARINT_LIMIT:
        return (number | 0xC000_0000_0000_0000).to_bytes(8, "big")
    raise ValueError(f"{number} does not fit into a varint")


def with_length(content: bytes) -> bytes:
    """The content behind its length as varint."""
    return encode_varint(len(content)) + content


class Reader:
    """Reads from bytes that somebody else wrote. Nothing is taken before it is known to be there."""

    __slots__ = ("_data", "_position")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    @property
    def left(self) -> int:
        """How many bytes have not been read yet."""
        return len(self._data) - self._position

    def take(self, length: int) -> bytes:
        """Exactly that many bytes."""
        start = self._position
        end = start + length
        if end > len(self._data):
            raise Malformed("a message ends early")
        self._position = end
        return self._data[start:end]

    def rest(self) -> bytes:
        """All that is left."""
        return self.take(self.left)

    def u8(self) -> int:
        if self._position >= len(self._data):
            raise Malformed("a message ends early")
        byte = self._data[self._position]
        self._position += 1
        return byte

    def u64(self) -> int:
        return int.from_bytes(self.take(8), "big")

    def varint(self) -> int:
        """A varint of any length: a reader accepts more bytes than needed."""
        first = self.u8()
        size = 1 << (first >> 6)
        number = first & 0x3F
        if size > 1:
            number = number << (8 * (size - 1)) | int.from_bytes(self.take(size - 1), "big")
        return number

    def count(self, limit: int) -> int:
        """A varint that must be below the limit."""
        number = self.varint()
        if number >= limit:
            raise Malformed(f"a count is {number}, the limit is {limit - 1}")
        return number

    def flag(self) -> bool:
        byte = self.u8()
        if byte > 1:
            raise Malformed("a flag is neither 0 nor 1")
        return byte == 1

    def sized(self, limit: int | None = None) -> bytes:
        """Bytes behind their length as varint, at most so many."""
        length = self.varint()
        if limit is not None and length > limit:
            raise Malformed(f"{length} bytes where {limit} are allowed")
        return self.take(length)

    def text(self, limit: int | None = None) -> str:
        """`text(n)`: valid UTF-8 of at most so many bytes."""
        content = self.sized(limit)
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            raise Malformed("a text is not UTF-8") from None

    def identifier(self) -> str:
        name = self.text(IDENTIFIER_BYTES)
        if not is_identifier(name):
            raise Malformed("a name is no identifier")
        return name


class Writer:
    """Collects the bytes of a message."""

    __slots__ = ("_data",)

    def __init__(self) -> None:
        self._data = bytearray()

    def __len__(self) -> int:
        return len(self._data)

    def data(self) -> bytes:
        return bytes(self._data)

    def put(self, content: bytes) -> "Writer":
        self._data += content
        return self

    def u8(self, number: int) -> "Writer":
        self._data.append(number)
        return self

    def u64(self, number: int) -> "Writer":
        self._data += number.to_bytes(8, "big")
        return self

    def varint(self, number: int) -> "Writer":
        self._data += encode_varint(number)
        return self

    def flag(self, value: bool) -> "Writer":
        return self.u8(1 if value else 0)

    def sized(self, content: bytes) -> "Writer":
        self._data += with_length(content)
        return self

    def text(self, text: str) -> "Writer":
        return self.sized(text.encode("utf-8"))


def is_identifier(name: str) -> bool:
    """Whether this is an `identifier` of protocol.md 1."""
    return len(name) <= IDENTIFIER_BYTES and IDENTIFIER.fullmatch(name) is not None
