"""Stamps, states, record ids and digests (protocol.md 6.2, 6.4, 8)."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .values import Value, size
from .wire import Reader, Writer

FIELDS_LIMIT = 1024
SIZE_LIMIT = 8 << 20
MERGED_SIZE_LIMIT = 16 << 20
LAST_MILLISECOND = (1 << 48) - 1
LAST_TIME = (1 << 64) - 1
SUM_MODULUS = 1 << 256


class Stamp(NamedTuple):
    """When and by whom (protocol.md 6.2). Ordered by time, then by replica."""

    time: int
    replica: int

    @property
    def milliseconds(self) -> int:
        return self.time >> 16


class Write(NamedTuple):
    """The last write of a field."""

    value: Value
    stamp: Stamp


BEFORE_ALL = Stamp(-1, -1)
"""Stands for none, below every stamp (protocol.md 6.4)."""


@dataclass(frozen=True)
class State:
    """What a replica knows of a record (protocol.md 6.4), apart from its name."""

    fields: dict[str, Write] = field(default_factory=dict)
    deletion: Stamp | None = None
    revival: Stamp | None = None
    erasure: Stamp | None = None

    def without_erased_fields(self) -> "State":
        """Without the fields whose stamp is not greater than the erasure: no state has such (protocol.md 6.4)."""
        if self.erasure is None:
            return self
        fields = {name: write for name, write in self.fields.items() if write.stamp > self.erasure}
        return replace(self, fields=fields)

    @property
    def newest_write(self) -> Stamp:
        return max((write.stamp for write in self.fields.values()), default=BEFORE_ALL)

    @property
    def is_erased(self) -> bool:
        """Whether the record was deleted for ever, and not written anew."""
        return self.erasure is not None and not self.fields

    @property
    def life(self) -> Stamp:
        if self.is_erased:
            return BEFORE_ALL
        return max(self.newest_write, self.revival or BEFORE_ALL)

    @property
    def is_deleted(self) -> bool:
        return self.deletion is not None and self.life <= self.deletion

    @property
    def is_live(self) -> bool:
        return bool(self.fields) and not self.is_deleted

    @property
    def is_empty(self) -> bool:
        return not self.fields and self.deletion is None and self.revival is None

    @property
    def size(self) -> int:
        """About what the state takes in a batch (protocol.md 6.4)."""
        return 400 + sum(24 + len(field) + size(write.value) for field, write in self.fields.items())

    @property
    def is_too_large(self) -> bool:
        """Whether the state stays where it was written (protocol.md 6.4)."""
        return self.size > SIZE_LIMIT and not self.is_deleted

    @property
    def may_be_kept(self) -> bool:
        """Whether a receiver keeps what merging has come to (protocol.md 7.12, reason 3)."""
        return len(self.fields) <= FIELDS_LIMIT and self.size <= MERGED_SIZE_LIMIT

    @property
    def newest_stamp(self) -> Stamp:
        """The newest of all stamps: the clock is raised to it, and the clock guard looks at it."""
        return max(self.newest_write, self.deletion or BEFORE_ALL, self.revival or BEFORE_ALL)

    def as_sent(self) -> "State":
        """What travels: a deleted state without its fields (protocol.md 6.4)."""
        if self.fields and self.is_deleted:
            return replace(self, fields={})
        return self

    def encode(self) -> bytes:
        """A form of our own, for the store."""
        writer = Writer().varint(len(self.fields))
        for name, write in sorted(self.fields.items()):
            writer.text(name).u64(write.stamp.time).u64(write.stamp.replica).sized(write.value)
        for stamp in (self.deletion, self.revival, self.erasure):
            writer.flag(stamp is not None)
            if stamp is not None:
                writer.u64(stamp.time).u64(stamp.replica)
        return writer.data()

    @classmethod
    def decode(cls, data: bytes) -> "State":
        reader = Reader(data)
        fields = {}
        for _ in range(reader.varint()):
            name = reader.text()
            stamp = Stamp(reader.u64(), reader.u64())
            fields[name] = Write(reader.sized(), stamp)
        ends = [Stamp(reader.u64(), reader.u64()) if reader.flag() else None for _ in range(3)]
        return cls(fields, *ends)


class Item(NamedTuple):
    """A record as Negentropy sees it (protocol.md 7.10): milliseconds, then id."""

    milliseconds: int
    id: bytes


def values_hash(state: State) -> bytes:
    """`vh` of protocol.md 8.1."""
    values = b"".join(write.value for _, write in sorted(state.fields.items()))
    return hashlib.blake2b(values, digest_size=16).digest()


def record_id(name: str, state: State) -> bytes:
    """The id of a live state (protocol.md 8.1)."""
    return _id(name, [(field, write.stamp) for field, write in sorted(state.fields.items())], values_hash(state))


def hollow_id(name: str, revival: Stamp) -> bytes:
    """The id under which a hollow record is reconciled (protocol.md 7.10)."""
    return _id(name, [("", revival)], b"")


def revived_id(name: str, state: State, revival: Stamp) -> bytes:
    """The id under which a live record is reconciled that was revived after its last write (protocol.md 7.10)."""
    stamps = [(field, write.stamp) for field, write in sorted(state.fields.items())]
    return _id(name, [("", revival), *stamps], values_hash(state))


def _id(name: str, stamps: list[tuple[str, Stamp]], vh: bytes) -> bytes:
    writer = Writer().text(name).varint(len(stamps))
    for field_name, stamp in stamps:
        writer.text(field_name).u64(stamp.time).u64(stamp.replica)
    writer.put(vh)
    return hashlib.blake2b(writer.data(), digest_size=32).digest()


def item_of(name: str, state: State) -> Item | None:
    """The item of a record that is not deleted (protocol.md 7.10); None for a deleted one."""
    if state.is_deleted:
        return None
    if state.is_live and state.revival is not None and state.revival > state.newest_write:
        return Item(state.revival.milliseconds, revived_id(name, state, state.revival))
    if state.is_live:
        return Item(state.newest_write.milliseconds, record_id(name, state))
    assert state.revival is not None
    return Item(state.revival.milliseconds, hollow_id(name, state.revival))


def base128(number: int) -> bytes:
    """Negentropy's varint: seven bits a byte, most significant group first."""
    digits = [number & 0x7F]
    while number := number >> 7:
        digits.append(number & 0x7F | 0x80)
    return bytes(reversed(digits))


def fingerprint_of(total: int, count: int) -> bytes:
    """The fingerprint of Negentropy Protocol V1 over a sum of ids (protocol.md 8.2)."""
    return hashlib.sha256(total.to_bytes(32, "little") + base128(count)).digest()[:16]


@dataclass(frozen=True)
class ZoneSum:
    """Count and sum over the live records of a zone (protocol.md 8.2)."""

    count: int
    sum: bytes

    @classmethod
    def over(cls, ids: Iterable[bytes]) -> "ZoneSum":
        count = total = 0
        for record in ids:
            count += 1
            total += int.from_bytes(record, "little")
        return cls(count, (total % SUM_MODULUS).to_bytes(32, "little"))

    @property
    def fingerprint(self) -> bytes:
        return fingerprint_of(int.from_bytes(self.sum, "little"), self.count)


def replica_id(public_key: bytes) -> int:
    """The replica id of a machine with this static key (protocol.md 6.2)."""
    return int.from_bytes(hashlib.blake2b(public_key, digest_size=32).digest()[:8], "big")


def wall_time(milliseconds: int) -> int:
    """The wall clock as the time of a stamp, kept within its 48 bits (protocol.md 6.2)."""
    return min(max(milliseconds, 0), LAST_MILLISECOND) << 16


def next_time(greatest: int, milliseconds: int) -> int:
    """The time of a new write (protocol.md 6.2). At the end of the 64 bits the time stands still."""
    return max(wall_time(milliseconds), min(greatest + 1, LAST_TIME))
