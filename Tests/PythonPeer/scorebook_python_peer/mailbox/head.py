"""Heads: what an author says at one moment (mailbox.md 3)."""

import hashlib
import random
import secrets
from dataclasses import dataclass

from ..errors import Malformed
from ..household import Household
from ..messages import Right
from ..wire import Reader, Writer
from .sealing import (
    NONCE_BYTES,
    OBJECT_LIMIT,
    SIGNATURE_BYTES,
    TAG_BYTES,
    VERSION,
    Author,
    Damaged,
    Kind,
    is_signed,
    padded_length,
    place,
    seal,
    unseal,
)  # fmt: skip
from .section import ZoneSection

LAST_VERSION = 31
"""The last version that may come: a greater first byte is damage (mailbox.md 12)."""
SLOTS_LIMIT, SLOT_LIMIT = 1025, 65_537
SECTIONS_LIMIT, SECTION_LIMIT = 66, 4 << 20
SLOTS_STEP = 8
KEY_BYTES = 32
ZONE, HOUSEHOLD = 1, 2


class OtherVersion(Damaged):
    """A head of a later version of the format: it is ignored."""


@dataclass(frozen=True)
class Slot:
    """What one reader may open of a head."""

    core_key: bytes
    verification_key: bytes
    sections: list[tuple[int, Right, bytes]]
    """The number of each section, what the reader may do in the zone, and the key."""

    def encode(self) -> bytes:
        writer = Writer().put(self.core_key).put(self.verification_key).varint(len(self.sections))
        for number, rights, key in self.sections:
            writer.varint(number).u8(rights).put(key)
        return writer.data()

    @classmethod
    def read(cls, content: bytes, number_of_sections: int) -> "Slot":
        reader = Reader(content)
        core_key, verification_key = reader.take(32), reader.take(32)
        sections = []
        for _ in range(reader.count(SECTIONS_LIMIT)):
            number, rights = reader.count(number_of_sections), reader.u8()
            if rights not in set(Right):
                raise Damaged("a slot has unknown rights")
            sections.append((number, Right(rights), reader.take(32)))
        return cls(core_key, verification_key, sections)


@dataclass(frozen=True)
class Head:
    """What one reader reads in a head."""

    counter: int
    time: int
    verification_key: bytes
    zones: list[ZoneSection]
    rights: list[Right]
    """What the reader may do in each of these zones."""
    household: Household | None


@dataclass(frozen=True)
class Parts:
    """The parts of a head that anybody can tell apart."""

    slots: list[bytes]
    sections: list[bytes]
    before_core: bytes
    core: bytes

    @classmethod
    def of(cls, content: bytes) -> "Parts":
        if len(content) > OBJECT_LIMIT:
            raise Damaged("a head is too large")
        reader = Reader(content)
        try:
            if (version := reader.u8()) != VERSION:
                is_later = VERSION < version <= LAST_VERSION
                raise (OtherVersion if is_later else Damaged)("a head is of another version of the format")
            number, length = reader.count(SLOTS_LIMIT), reader.count(SLOT_LIMIT)
            slots = [reader.take(length) for _ in range(number)]
            sections = [reader.take(reader.count(SECTION_LIMIT)) for _ in range(reader.count(SECTIONS_LIMIT))]
        except Malformed as error:
            raise Damaged(str(error)) from None
        core = reader.rest()
        return cls(slots, sections, content[: len(content) - len(core)], core)


def open_head(reader: Author, author_key: bytes, author_id: bytes, counter: int, content: bytes) -> Head | None:
    """What a head says to a reader. None if the author is another one, or says nothing to this reader."""
    parts = Parts.of(content)
    key = reader.slot_key(author_key, reader.key, counter)
    if key is None:
        return None
    for sealed in parts.slots:
        try:
            plaintext = unseal(key, place(Kind.SLOT, author_key, author_id, counter), sealed)
        except Damaged:
            continue
        try:
            slot = Slot.read(plaintext, len(parts.sections))
            return _open_parts(slot, parts, author_key, author_id, counter)
        except Malformed as error:
            raise Damaged(str(error)) from None
    return None


def _open_parts(slot: Slot, parts: Parts, author_key: bytes, author_id: bytes, counter: int) -> Head:
    core_place = place(Kind.CORE, author_key, author_id, counter)
    plaintext = unseal(slot.core_key, core_place, parts.core)
    # What a later version says beside the time stands before the signature.
    said, signature = plaintext[:-SIGNATURE_BYTES], plaintext[-SIGNATURE_BYTES:]
    if not is_signed(slot.verification_key, signature, _signed(core_place, parts.before_core, said)):
        raise Damaged("the signature of a head is wrong")
    time = Reader(said).varint()
    section_place = place(Kind.SECTION, author_key, author_id, counter)
    zones, rights, household = [], [], None
    for number, right, key in sorted(slot.sections):
        content = Reader(unseal(key, section_place, parts.sections[number]))
        kind = content.u8()
        if kind == ZONE:
            if right == Right.NOTHING:
                raise Damaged("a slot names a zone without rights")
            zones.append(ZoneSection.read_from(content))
            rights.append(right)
        elif kind == HOUSEHOLD:
            household = Household.read(content)
    if len({zone.zone for zone in zones}) < len(zones):
        raise Damaged("a head has a zone twice")
    return Head(counter, time, slot.verification_key, zones, rights, household)


def _signed(core_place: bytes, before_core: bytes, said: bytes) -> bytes:
    hash = hashlib.blake2b(before_core, digest_size=32).digest()
    return Writer().text("scorebook-peer mailbox head").put(core_place).put(hash).put(said).data()


class Chance:
    """Where random numbers come from; the vectors have one that can be foretold."""

    def draw(self, length: int) -> bytes:
        return secrets.token_bytes(length)

    def shuffle(self, slots: list[bytes]) -> None:
        random.SystemRandom().shuffle(slots)


@dataclass(frozen=True)
class Draft:
    """What an author wants to say: sections, and what each reader gets of them."""

    zones: list[ZoneSection]
    household: Household | None
    readers: dict[bytes, dict[int, Right]]
    """By static key: what the reader may do in which of the zones."""
    told: set[bytes]
    """Those with whom the household is shared."""

    def seal(
        self, author: Author, counter: int, time: int, chance: Chance | None = None, later_fields: bytes = b""
    ) -> bytes:  # fmt: skip
        chance = chance or Chance()
        draw = chance.draw
        plain = [bytes((ZONE,)) + zone.encode() for zone in self.zones]
        if self.household is not None:
            plain.append(bytes((HOUSEHOLD,)) + self.household.encoded)
        keys = [draw(KEY_BYTES) for _ in plain]
        core_key = draw(KEY_BYTES)
        slots = self._slots(author, counter, core_key, keys, chance)
        section_place = place(Kind.SECTION, author.key, author.id, counter)
        sections = [seal(key, section_place, content, draw(NONCE_BYTES)) for key, content in zip(keys, plain)]
        writer = Writer().u8(VERSION).varint(len(slots)).varint(len(slots[0]))
        for slot in slots:
            writer.put(slot)
        writer.varint(len(sections))
        for section in sections:
            writer.sized(section)
        core_place = place(Kind.CORE, author.key, author.id, counter)
        said = Writer().varint(time).data() + later_fields
        core = said + author.sign(_signed(core_place, writer.data(), said))
        return writer.data() + seal(core_key, core_place, core, draw(NONCE_BYTES))

    def _slots(
        self, author: Author, counter: int, core_key: bytes, keys: list[bytes], chance: Chance
    ) -> list[bytes]:  # fmt: skip
        plain = {}
        for reader, zones in self.readers.items():
            key = author.slot_key(author.key, reader, counter)
            if key is None:
                continue
            opens = [(number, rights, keys[number]) for number, rights in zones.items()]
            if reader in self.told and self.household is not None:
                opens.append((len(self.zones), Right.NOTHING, keys[-1]))
            plain[key] = Slot(core_key, author.verification_key, opens).encode()
        padded = padded_length(max((len(content) for content in plain.values()), default=0))
        slot_place = place(Kind.SLOT, author.key, author.id, counter)
        slots = [seal(key, slot_place, content, chance.draw(NONCE_BYTES), padded) for key, content in plain.items()]
        while not slots or len(slots) % SLOTS_STEP:
            slots.append(chance.draw(NONCE_BYTES + padded + TAG_BYTES))
        chance.shuffle(slots)
        return slots
