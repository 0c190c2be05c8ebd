"""Record names (protocol.md 6.1) and zone ids (protocol.md 5.2)."""

import re
from typing import NamedTuple

from .errors import Malformed
from .wire import Reader, Writer, is_identifier

SEPARATOR = "|~|"
NAME_BYTES = 255
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def is_printable(text: str) -> bool:
    """Whether all of it is printable ASCII, 20 … 7e."""
    return all(" " <= c <= "~" for c in text)


def check_record_name(name: str) -> None:
    """Malformed if this is no record name (protocol.md 6.1)."""
    record_type, separator, suffix = name.partition(SEPARATOR)
    if (
        not separator
        or not suffix
        or len(name) > NAME_BYTES
        or not is_printable(name)
        or not is_identifier(record_type)
    ):
        raise Malformed("a record has no proper name")


def split_record_name(name: str) -> tuple[str, str]:
    """Type and suffix of a record name."""
    record_type, _, suffix = name.partition(SEPARATOR)
    return record_type, suffix


def read_name(reader: Reader, types: list[str]) -> str:
    """The number of a record type, then a suffix (protocol.md 6.3, 6.5)."""
    record_type = types[reader.count(len(types))]
    return read_suffix(reader, record_type)


def read_suffix(reader: Reader, record_type: str) -> str:
    """A suffix (protocol.md 6.5), given back as the whole record name."""
    form = reader.u8()
    if form == 0:
        suffix = reader.text(255)
    elif form in (1, 2):
        digits = reader.take(16).hex()
        suffix = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
        if form == 2:
            suffix = suffix.upper()
    else:
        raise Malformed("a name has an unknown form")
    name = f"{record_type}|~|{suffix}"
    check_record_name(name)
    return name


def write_suffix(writer: Writer, suffix: str) -> None:
    """The shortest form that gives the suffix back exactly (protocol.md 6.5)."""
    if _UUID.fullmatch(suffix):
        writer.u8(1).put(bytes.fromhex(suffix.replace("-", "")))
    elif suffix == suffix.upper() and _UUID.fullmatch(suffix.lower()):
        writer.u8(2).put(bytes.fromhex(suffix.replace("-", "")))
    else:
        writer.u8(0).text(suffix)


def read_zone_name(reader: Reader) -> str:
    """The name of a zone: not empty, of printable ASCII (protocol.md 5.2)."""
    name = reader.text(NAME_BYTES)
    if not name or not is_printable(name):
        raise Malformed("a zone has no proper name")
    return name


class ZoneID(NamedTuple):
    """The name of a zone, and the replica id of the store that made it; ordered by name, then by owner."""

    name: str
    owner: int

    @classmethod
    def read(cls, reader: Reader) -> "ZoneID":
        return cls(read_zone_name(reader), reader.u64())

    def write(self, writer: Writer) -> None:
        writer.text(self.name).u64(self.owner)

    def __str__(self) -> str:
        return f"{self.name} of {self.owner:016x}"
