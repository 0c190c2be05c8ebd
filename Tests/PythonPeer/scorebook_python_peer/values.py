"""Values of protocol.md 6.3, kept as their canonical encodings.

A value is nothing but its canonical encoding here: that is what is hashed and compared, and what must be passed on.
"""

import math
import re
import struct
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from .errors import Malformed
from .names import check_record_name, read_name
from .wire import Reader, encode_varint, with_length

Value = bytes

NULL = b"\x00"
TAG_NULL = 0x00
TAG_REAL = 0x02
TAG_TEXT = 0x03
TAG_BLOB = 0x04
TAG_REFERENCE = 0x06
TAG_ASSET = 0x07
TAG_INTEGER = 0x10
TAG_DATE = 0x20

EARLIEST_DATE = -62_167_219_200_000
LATEST_DATE = 253_402_300_799_999
ASSET_SIZE_LIMIT = 1 << 31
MEDIA_TYPE_BYTES = 127
FILE_NAME_BYTES = 255
_MEDIA_NAME = r"[a-z0-9!#$&\-^_.+]+"
_MEDIA_TYPE = re.compile(f"{_MEDIA_NAME}/{_MEDIA_NAME}")


@dataclass(frozen=True)
class Asset:
    """What a record says about a file (protocol.md 6.3); the file itself travels by section 7.11."""

    hash: bytes
    size: int
    media_type: str
    name: str

    def check(self) -> None:
        """Malformed if a bound of protocol.md 6.3 is broken."""
        if self.size > ASSET_SIZE_LIMIT:
            raise Malformed("an asset is larger than 2 GiB")
        if len(self.media_type) > MEDIA_TYPE_BYTES or not _MEDIA_TYPE.fullmatch(self.media_type):
            raise Malformed("an asset has no media type")
        if len(self.name.encode()) > FILE_NAME_BYTES or self.name in (".", ".."):
            raise Malformed("an asset has no proper file name")
        if any(c in "/\\" or unicodedata.category(c) == "Cc" for c in self.name):
            raise Malformed("an asset has no proper file name")


def _minimal(number: int) -> bytes:
    """Two's complement in the fewest bytes that hold the number with its sign; 0 has none."""
    if number == 0:
        return b""
    bits = (number if number > 0 else ~number).bit_length() + 1
    return number.to_bytes((bits + 7) // 8, "big", signed=True)


def integer(number: int) -> Value:
    content = _minimal(number)
    if len(content) > 8:
        raise Malformed("an integer of more than 64 bits")
    return bytes((TAG_INTEGER + len(content),)) + content


def date(milliseconds: int) -> Value:
    if not EARLIEST_DATE <= milliseconds <= LATEST_DATE:
        raise Malformed("a date outside of the years 0000 to 9999")
    content = _minimal(milliseconds)
    return bytes((TAG_DATE + len(content),)) + content


def real(number: float) -> Value:
    if math.isnan(number):
        raise Malformed("a real that is not a number")
    return bytes((TAG_REAL,)) + struct.pack(">d", number)


def text(content: str) -> Value:
    return bytes((TAG_TEXT,)) + with_length(content.encode())


def blob(content: bytes) -> Value:
    return bytes((TAG_BLOB,)) + with_length(content)


def reference(record_name: str) -> Value:
    check_record_name(record_name)
    return bytes((TAG_REFERENCE,)) + with_length(record_name.encode())


def asset(content: Asset) -> Value:
    content.check()
    parts = content.hash + encode_varint(content.size)
    return bytes((TAG_ASSET,)) + parts + with_length(content.media_type.encode()) + with_length(content.name.encode())


def read_value(reader: Reader, types: list[str] | None = None) -> Value:
    """Reads one value and gives back its canonical encoding.

    With a table of types it reads the form on the wire, in which references differ (protocol.md 6.3); without one the
    canonical encoding.
    """
    tag = reader.u8()
    if tag == TAG_NULL:
        return NULL
    if tag == TAG_TEXT:
        return text(reader.text())
    if tag & 0xF0 in (TAG_INTEGER, TAG_DATE) and tag & 0x0F <= 8:
        content = reader.take(tag & 0x0F)
        number = int.from_bytes(content, "big", signed=True)
        if _minimal(number) != content:
            raise Malformed("a number has more bytes than it needs")
        return integer(number) if tag & 0xF0 == TAG_INTEGER else date(number)
    if tag == TAG_REFERENCE:
        return reference(reader.text(255) if types is None else read_name(reader, types))
    if tag == TAG_REAL:
        return real(struct.unpack(">d", reader.take(8))[0])
    if tag == TAG_BLOB:
        return blob(reader.sized())
    if tag == TAG_ASSET:
        return asset(
            Asset(reader.take(32), reader.varint(), reader.text(MEDIA_TYPE_BYTES), reader.text(FILE_NAME_BYTES))
        )
    raise Malformed(f"a value has the unknown tag {tag}")


def size(value: Value) -> int:
    """What a value adds to the size of its record (protocol.md 6.4)."""
    tag = value[0]
    if tag == TAG_NULL:
        return 1
    if tag in (TAG_TEXT, TAG_BLOB):
        return 9 + len(Reader(value[1:]).sized())
    if tag == TAG_REFERENCE:
        return 8 + len(Reader(value[1:]).sized())
    content = asset_of(value)
    if content:
        return 56 + len(content.media_type.encode()) + len(content.name.encode())
    return 9


def referenced_name(value: Value) -> str | None:
    """The record that a reference names; None for any other value."""
    if value[0] != TAG_REFERENCE:
        return None
    return Reader(value[1:]).text()


def asset_of(value: Value) -> Asset | None:
    """The asset that a value is; None for any other value."""
    if value[0] != TAG_ASSET:
        return None
    reader = Reader(value[1:])
    return Asset(reader.take(32), reader.varint(), reader.text(), reader.text())


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def describe(value: Value) -> tuple[str, object]:
    """Kind and content of a value, for people and for JSON."""
    tag, reader = value[0], Reader(value[1:])
    if tag == TAG_NULL:
        return "null", None
    if tag == TAG_REAL:
        return "real", struct.unpack(">d", reader.take(8))[0]
    if tag == TAG_TEXT:
        return "text", reader.text()
    if tag == TAG_BLOB:
        return "blob", reader.sized().hex()
    if tag == TAG_REFERENCE:
        return "reference", reader.text()
    if tag == TAG_ASSET:
        found = asset_of(value)
        assert found is not None
        return "asset", {"hash": found.hash.hex(), "size": found.size, "type": found.media_type, "name": found.name}
    number = int.from_bytes(reader.rest(), "big", signed=True)
    return ("integer", number) if tag & 0xF0 == TAG_INTEGER else ("date", number)


def parse(kind: str, content: str) -> Value:
    """The value that somebody typed as KIND:CONTENT on the command line."""
    if kind == "null":
        return NULL
    if kind == "integer":
        return integer(int(content))
    if kind == "real":
        return real(float(content))
    if kind == "text":
        return text(content)
    if kind == "blob":
        return blob(bytes.fromhex(content))
    if kind == "reference":
        return reference(content)
    if kind == "date":
        if re.fullmatch(r"-?\d+", content):
            return date(int(content))
        moment = datetime.fromisoformat(content.replace("Z", "+00:00"))
        return date((moment - _EPOCH) // timedelta(milliseconds=1))
    raise ValueError(f"{kind} is no kind of value")
