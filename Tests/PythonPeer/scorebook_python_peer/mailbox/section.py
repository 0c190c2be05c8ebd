"""What a head says of one zone (mailbox.md 3.3)."""

from dataclasses import dataclass, field, replace

from ..names import NAME_BYTES, ZoneID, check_record_name
from ..tokens import GENERATION_LIMIT, START, Token
from ..values import ASSET_SIZE_LIMIT
from ..wire import Reader, Writer
from .sealing import NOTHING, Damaged

SEGMENTS_LIMIT = 4097
MANY_LIMIT = 1001
FILES_LIMIT = 4097
FILE_KEYS_LIMIT = 17
REFUSED_LIMIT = 65
REFUSED_NAMES = 4096
"""The most names that a writer puts into a section."""
FURTHER_LIMIT = 1 << 30
REASON_LIMIT = 256
DAMAGED_LIMIT = 65


@dataclass(frozen=True)
class Offer:
    """A file that lies under the author's folder."""

    hash: bytes
    size: int
    key: int
    """Which of the file keys."""


@dataclass(frozen=True)
class HasRead:
    """What an author has of another one: how far it has read the log, and its received token."""

    replica: int
    history: bytes = NOTHING
    log: bytes = NOTHING
    segment: int = 0
    token: Token | None = None


@dataclass(frozen=True)
class Refused:
    """What an author has refused of another one: names with reasons, and the number of further ones."""

    replica: int
    records: list[tuple[str, int]]
    further: int = 0


@dataclass(frozen=True)
class DamagedObject:
    """An object of another author that the author could not open."""

    replica: int
    object: bytes
    """The last part of its name; of a head, 8 zeros and its counter."""


@dataclass(frozen=True)
class ZoneSection:
    """A section of kind 1."""

    zone: ZoneID
    history: bytes
    log: bytes
    log_key: bytes
    whole: bool
    base: int
    segments: int
    ends: list[int]
    """The sequences of the tokens of the segments, from the last one of the base on."""
    covered: Token
    generations: list[tuple[bytes, int]]
    """Each with its first number, not descending; of equal ones the last counts."""
    forgotten: int
    count: int
    sum: bytes
    readers: list[int]
    read: list[HasRead]
    file_keys: list[tuple[bytes, bytes]] = field(default_factory=list)
    """File epochs, each with its key; the newest first."""
    offered: list[Offer] = field(default_factory=list)
    wanted: list[bytes] = field(default_factory=list)
    wants_more: bool = False
    refused: list[Refused] | None = None
    """None if the author does not say."""
    damaged: list[DamagedObject] = field(default_factory=list)

    # Covering (mailbox.md 6.1)

    def is_in_history(self, token: Token) -> bool:
        if token.sequence == 0:
            return True
        known = [generation for generation, first in self.generations if first <= token.sequence]
        return bool(known) and known[-1] == token.generation

    def covers(self, token: Token, by: Token) -> bool:
        """Whether a token of the author is covered by another one, as far as the head tells."""
        if token.sequence == 0:
            return True
        return self.is_in_history(token) and self.is_in_history(by) and token.sequence <= by.sequence

    def last_number(self, segment: int) -> int | None:
        """The sequence of a segment's token, as far as the head tells."""
        return self.ends[segment - self.base] if 0 < self.base <= segment else None

    def end(self, segment: int) -> Token:
        """The token of a segment, from the last one of the base on, as far as the head tells."""
        sequence = self.ends[segment - self.base]
        known = [generation for generation, first in self.generations if first <= sequence]
        return Token(known[-1] if known else START.generation, sequence)

    def read_of(self, replica: int) -> HasRead | None:
        """What the author has of another one; None if it does not take its records."""
        return next((entry for entry in self.read if entry.replica == replica), None)

    # The encoding

    @classmethod
    def read_from(cls, reader: Reader) -> "ZoneSection":
        zone, history, log, log_key = ZoneID.read(reader), reader.take(16), reader.take(16), reader.take(32)
        whole, base, segments = reader.flag(), reader.count(SEGMENTS_LIMIT), reader.count(SEGMENTS_LIMIT)
        if segments < base:
            raise Damaged("a log ends before its base")
        ends: list[int] = []
        for _ in range(segments - base + 1 if base else 0):
            ends.append(reader.varint() + (ends[-1] if ends else 0))
        covered = Token.read(reader)
        generations = [
            (reader.take(reader.count(GENERATION_LIMIT)), reader.varint()) for _ in range(reader.count(MANY_LIMIT))
        ]
        if any(one[1] > other[1] for one, other in zip(generations, generations[1:])):
            raise Damaged("generations descend")
        forgotten, count, sum = reader.varint(), reader.varint(), reader.take(32)
        readers = [reader.u64() for _ in range(reader.count(MANY_LIMIT))]
        read = [_read_has_read(reader) for _ in range(reader.count(MANY_LIMIT))]
        file_keys = [(reader.take(16), reader.take(32)) for _ in range(reader.count(FILE_KEYS_LIMIT))]
        offered = [
            Offer(reader.take(32), reader.varint(), reader.count(len(file_keys)))
            for _ in range(reader.count(FILES_LIMIT))
        ]
        if any(offer.size > ASSET_SIZE_LIMIT for offer in offered):
            raise Damaged("an offered file is too large")
        wanted = [reader.take(32) for _ in range(reader.count(FILES_LIMIT))]
        return cls(
            zone, history, log, log_key, whole, base, segments, ends, covered, generations, forgotten, count, sum,
            readers, read, file_keys, offered, wanted, reader.flag(), _read_refused(reader), _read_damaged(reader),
        )  # fmt: skip

    def encode(self) -> bytes:
        writer = Writer()
        self.zone.write(writer)
        writer.put(self.history).put(self.log).put(self.log_key)
        writer.flag(self.whole).varint(self.base).varint(self.segments)
        for before, end in zip([0, *self.ends], self.ends):
            writer.varint(end - before)
        self.covered.write(writer)
        writer.varint(len(self.generations))
        for generation, first in self.generations:
            writer.sized(generation).varint(first)
        writer.varint(self.forgotten).varint(self.count).put(self.sum)
        writer.varint(len(self.readers))
        for replica in self.readers:
            writer.u64(replica)
        writer.varint(len(self.read))
        for entry in self.read:
            writer.u64(entry.replica).put(entry.history).put(entry.log).varint(entry.segment)
            writer.flag(entry.token is not None)
            if entry.token is not None:
                entry.token.write(writer)
        self._write_files(writer)
        self.write_refused(writer)
        if self.refused is not None:
            self.write_damaged(writer)
        return writer.data()

    def _write_files(self, writer: Writer) -> None:
        writer.varint(len(self.file_keys))
        for epoch, key in self.file_keys:
            writer.put(epoch).put(key)
        writer.varint(len(self.offered))
        for offer in self.offered:
            writer.put(offer.hash).varint(offer.size).varint(offer.key)
        writer.varint(len(self.wanted))
        for hash in self.wanted:
            writer.put(hash)
        writer.flag(self.wants_more)

    def refused_of(self, replica: int) -> Refused | None:
        """What the author has refused of another one; None if nothing."""
        return next((entry for entry in self.refused or () if entry.replica == replica), None)

    def write_refused(self, writer: Writer) -> None:
        if self.refused is None:
            return
        writer.varint(len(self.refused))
        for entry in self.refused:
            writer.u64(entry.replica).varint(len(entry.records))
            for name, reason in entry.records:
                writer.text(name).varint(reason)
            writer.varint(entry.further)

    def write_damaged(self, writer: Writer) -> None:
        writer.varint(len(self.damaged))
        for entry in self.damaged:
            writer.u64(entry.replica).put(entry.object)


def _read_has_read(reader: Reader) -> HasRead:
    entry = HasRead(reader.u64(), reader.take(16), reader.take(16), reader.count(SEGMENTS_LIMIT))
    return replace(entry, token=Token.read(reader)) if reader.flag() else entry


def _read_refused(reader: Reader) -> list[Refused] | None:
    if reader.left == 0:
        return None  # an author that does not know of this field
    entries = []
    for _ in range(reader.count(MANY_LIMIT)):
        replica = reader.u64()
        records = []
        for _ in range(reader.count(REFUSED_LIMIT)):
            records.append((reader.text(NAME_BYTES), reader.count(REASON_LIMIT)))
            check_record_name(records[-1][0])
        entries.append(Refused(replica, records, reader.count(FURTHER_LIMIT)))
    return entries


def _read_damaged(reader: Reader) -> list[DamagedObject]:
    if reader.left == 0:
        return []  # an author that does not know of this field
    return [DamagedObject(reader.u64(), reader.take(16)) for _ in range(reader.count(DAMAGED_LIMIT))]
