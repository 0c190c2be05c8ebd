"""The household: the machines that accept each other (protocol.md 7.13)."""

import hashlib
import secrets
from dataclasses import dataclass, replace
from enum import IntEnum

from .errors import Malformed
from .wire import Reader, Writer

ENTRIES_LIMIT = 1000
NAME_BYTES = 64
STEERING = (
    {chr(code) for code in [*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F]}
    | {chr(code) for code in [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]}
)  # fmt: skip
"""The characters that no name has."""


class Gets(IntEnum):
    """What an introduced machine gets."""

    READ = 1
    ALL = 2


@dataclass(frozen=True)
class Introduction:
    nonce: bytes
    key: bytes
    name: str
    rights: Gets
    introducer: bytes
    time: int

    @classmethod
    def of(cls, key: bytes, name: str, rights: Gets, introducer: bytes, time: int) -> "Introduction":
        """A new introduction."""
        clean = "".join(" " if c in STEERING else c for c in name) or "unnamed"
        cut = clean.encode()[:NAME_BYTES].decode(errors="ignore")
        return cls(secrets.token_bytes(16), key, cut, rights, introducer, max(0, time))

    @classmethod
    def read(cls, reader: Reader) -> "Introduction":
        nonce, key, name, rights = reader.take(16), reader.take(32), reader.text(NAME_BYTES), reader.u8()
        introducer, time = reader.take(32), reader.varint()
        if rights not in (Gets.READ, Gets.ALL):
            raise Malformed("an introduction has unknown rights")
        if not name or STEERING & set(name):
            raise Malformed("an introduction has a name that is none")
        if key == introducer:
            raise Malformed("a machine introduces itself")
        return cls(nonce, key, name, Gets(rights), introducer, time)

    def write(self, writer: Writer) -> None:
        writer.put(self.nonce).put(self.key).text(self.name).u8(self.rights).put(self.introducer).varint(self.time)

    @property
    def encoded(self) -> bytes:
        writer = Writer()
        self.write(writer)
        return writer.data()

    @property
    def id(self) -> bytes:
        return hashlib.blake2b(b"introduction" + self.encoded, digest_size=32).digest()


@dataclass(frozen=True)
class Removal:
    remover: bytes
    time: int

    @property
    def rank(self) -> tuple[int, bytes]:
        """Of two removals the one with the smaller rank stays."""
        return self.time, self.remover


@dataclass(frozen=True)
class Entry:
    introduction: Introduction
    removal: Removal | None = None

    @classmethod
    def read(cls, reader: Reader) -> "Entry":
        introduction = Introduction.read(reader)
        return cls(introduction, Removal(reader.take(32), reader.varint()) if reader.flag() else None)

    def write(self, writer: Writer) -> None:
        self.introduction.write(writer)
        writer.flag(self.removal is not None)
        if self.removal is not None:
            writer.put(self.removal.remover).varint(self.removal.time)


class Household:
    """A set of introductions, each with its removal if there is one. Nothing changes a set once it is made."""

    def __init__(self, entries: list[Entry]) -> None:
        by_id: dict[bytes, Entry] = {}
        for entry in entries:
            known = by_id.get(entry.introduction.id, entry)
            removals = [r for r in (known.removal, entry.removal) if r is not None]
            by_id[entry.introduction.id] = replace(entry, removal=min(removals, key=lambda r: r.rank, default=None))
        kept = sorted(by_id, key=lambda id: (by_id[id].removal is None, id))[:ENTRIES_LIMIT]
        self.entries: dict[bytes, Entry] = {id: by_id[id] for id in sorted(kept)}

    @classmethod
    def read(cls, reader: Reader) -> "Household":
        entries = [Entry.read(reader) for _ in range(reader.count(ENTRIES_LIMIT + 1))]
        ids = [entry.introduction.id for entry in entries]
        if any(one >= other for one, other in zip(ids, ids[1:])):
            raise Malformed("a household is not in order")
        return cls(entries)

    def write(self, writer: Writer) -> None:
        writer.varint(len(self.entries))
        for entry in self.entries.values():
            entry.write(writer)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Household) and self.entries == other.entries

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Household({list(self.entries.values())})"

    @property
    def encoded(self) -> bytes:
        writer = Writer()
        self.write(writer)
        return writer.data()

    @property
    def digest(self) -> bytes:
        return hashlib.blake2b(self.encoded, digest_size=32).digest()

    def union(self, other: "Household") -> "Household":
        """This set brought up to date, with what else the other one has as far as there is room."""
        held = Household([*self.entries.values(), *(e for id, e in other.entries.items() if id in self.entries)])
        new = sorted((e.removal is None, id) for id, e in other.entries.items() if id not in self.entries)
        room = ENTRIES_LIMIT - len(held.entries)
        return Household([*held.entries.values(), *(other.entries[id] for _, id in new[:room])])

    def with_removal(self, key: bytes, removal: Removal) -> "Household":
        """Ends every introduction of a machine that is in force."""
        return Household([
            replace(e, removal=removal) if e.introduction.key == key and e.removal is None else e
            for e in self.entries.values()
        ])  # fmt: skip

    @property
    def members(self) -> dict[bytes, Introduction]:
        """The members by key, each with the introduction that counts."""
        found: dict[bytes, Introduction] = {}
        for entry in self.entries.values():
            introduction = entry.introduction
            rank = (introduction.time, introduction.id)
            known = found.get(introduction.key)
            if entry.removal is None and (known is None or rank > (known.time, known.id)):
                found[introduction.key] = introduction
        return found

    @property
    def removed(self) -> set[bytes]:
        """The machines that somebody introduced, and of which no introduction is in force."""
        return {entry.introduction.key for entry in self.entries.values()} - self.members.keys()
