"""The messages of protocol.md section 5."""

import unicodedata
from dataclasses import dataclass, field
from enum import IntEnum
from typing import ClassVar

from .batch import Batch
from .errors import Malformed
from .household import Household
from .names import NAME_BYTES, ZoneID, check_record_name, read_zone_name
from .tokens import Token
from .wire import Reader, Writer, encode_varint

MESSAGE_LIMIT = 16 << 20
EARLY_MESSAGE_LIMIT = 65_536
ZONES_LIMIT = 64
DISPLAY_NAME_BYTES = 64
SENTENCE_BYTES = 1024
CHUNK_BYTES = 65_280
REFUSED_LIMIT = 65_536
AVAILABLE_LIMIT = 1024
WANTED_LIMIT = 65_537
ADDRESSES_LIMIT = 4_000
ADDRESS_BYTES = 255
BIDI_CONTROL = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Right(IntEnum):
    """What a peer may do in a zone (protocol.md 7.12)."""

    NOTHING = 0
    READ = 1
    WRITE = 2


def clean(text: str) -> str:
    """A text for people: control characters become spaces (protocol.md 5.2)."""
    return "".join(" " if c in BIDI_CONTROL or unicodedata.category(c) == "Cc" else c for c in text)


def cut(text: str, limit: int) -> str:
    """Cuts what is too long at the end of a character (protocol.md 5.2)."""
    return text.encode()[:limit].decode(errors="ignore")


def read_display_name(reader: Reader) -> str:
    return clean(reader.text(DISPLAY_NAME_BYTES)) or "unnamed"


def read_optional_token(reader: Reader) -> Token | None:
    return Token.read(reader) if reader.flag() else None


def write_optional_token(writer: Writer, token: Token | None) -> None:
    writer.flag(token is not None)
    if token is not None:
        token.write(writer)


@dataclass(frozen=True)
class OfferedZone:
    """A zone as a hello names it."""

    zone: ZoneID
    title: str
    is_default: bool
    is_shared: bool
    rights: Right
    count: int
    fingerprint: bytes

    @classmethod
    def read(cls, reader: Reader) -> "OfferedZone":
        zone, title, flags, rights = ZoneID.read(reader), read_zone_name(reader), reader.u8(), reader.u8()
        if rights not in (Right.READ, Right.WRITE):
            raise Malformed("a hello has unknown rights")
        return cls(zone, title, bool(flags & 1), bool(flags & 2), Right(rights), reader.varint(), reader.take(16))

    def write(self, writer: Writer) -> None:
        self.zone.write(writer)
        writer.text(self.title).u8(self.is_default | self.is_shared << 1).u8(self.rights)
        writer.varint(self.count).put(self.fingerprint)


class Message:
    """What every message has: a type, and a payload that it reads and writes (protocol.md 5.1)."""

    type: ClassVar[int]

    @classmethod
    def read(cls, reader: Reader) -> "Message":
        raise NotImplementedError

    def write(self, writer: Writer) -> None:
        raise NotImplementedError

    def encode(self) -> bytes:
        """The whole message, length in front."""
        writer = Writer().varint(self.type)
        self.write(writer)
        return encode_varint(len(writer)) + writer.data()


@dataclass(frozen=True)
class Hello(Message):
    type: ClassVar[int] = 1
    minor: int
    replica: int
    instance: int
    name: str
    clock: int
    zones: list[OfferedZone]

    @classmethod
    def read(cls, reader: Reader) -> "Hello":
        head = (reader.varint(), reader.u64(), reader.u64(), read_display_name(reader), reader.varint())
        zones = [OfferedZone.read(reader) for _ in range(reader.count(ZONES_LIMIT + 1))]
        if len({offer.zone for offer in zones}) < len(zones) or sum(offer.is_default for offer in zones) > 1:
            raise Malformed("a hello offers a zone twice")
        return cls(*head, zones)

    def write(self, writer: Writer) -> None:
        writer.varint(self.minor).u64(self.replica).u64(self.instance).text(cut(self.name, DISPLAY_NAME_BYTES))
        writer.varint(self.clock).varint(len(self.zones))
        for zone in self.zones:
            zone.write(writer)


@dataclass(frozen=True)
class PairingShare(Message):
    type: ClassVar[int] = 2
    share: bytes

    @classmethod
    def read(cls, reader: Reader) -> "PairingShare":
        return cls(reader.take(32))

    def write(self, writer: Writer) -> None:
        writer.put(self.share)


@dataclass(frozen=True)
class PairingTag(Message):
    type: ClassVar[int] = 3
    tag: bytes
    name: str

    @classmethod
    def read(cls, reader: Reader) -> "PairingTag":
        return cls(reader.take(64), read_display_name(reader))

    def write(self, writer: Writer) -> None:
        writer.put(self.tag).text(cut(self.name, DISPLAY_NAME_BYTES))


@dataclass(frozen=True)
class ZoneMessage(Message):
    """A message about one zone of the session, by its number."""

    zone: int

    @classmethod
    def read(cls, reader: Reader) -> "ZoneMessage":
        return cls(reader.count(ZONES_LIMIT), *cls.read_rest(reader))

    @classmethod
    def read_rest(cls, reader: Reader) -> tuple:
        raise NotImplementedError

    def write(self, writer: Writer) -> None:
        writer.varint(self.zone)
        self.write_rest(writer)

    def write_rest(self, writer: Writer) -> None:
        raise NotImplementedError


@dataclass(frozen=True)
class Begin(ZoneMessage):
    type: ClassVar[int] = 4
    void: bool
    whole: bool
    count: int

    @classmethod
    def read_rest(cls, reader: Reader) -> tuple:
        return reader.flag(), reader.flag(), reader.varint()

    def write_rest(self, writer: Writer) -> None:
        writer.flag(self.void).flag(self.whole).varint(self.count)


@dataclass(frozen=True)
class BatchMessage(ZoneMessage):
    type: ClassVar[int] = 5
    batch: Batch

    @classmethod
    def read_rest(cls, reader: Reader) -> tuple:
        return (Batch.read(reader),)

    def write_rest(self, writer: Writer) -> None:
        writer.put(self.batch.encode())


@dataclass(frozen=True)
class Acknowledge(ZoneMessage):
    type: ClassVar[int] = 6
    token: Token

    @classmethod
    def read_rest(cls, reader: Reader) -> tuple:
        return (Token.read(reader),)

    def write_rest(self, writer: Writer) -> None:
        self.token.write(writer)


@dataclass(frozen=True)
class Digest(ZoneMessage):
    type: ClassVar[int] = 7
    current: Token
    received: Token | None
    count: int
    sum: bytes
    refused: int

    @classmethod
    def read_rest(cls, reader: Reader) -> tuple:
        return (
            Token.read(reader), read_optional_token(reader), reader.varint(), reader.take(32), reader.count(1 << 30)
        )  # fmt: skip

    def write_rest(self, writer: Writer) -> None:
        self.current.write(writer)
        write_optional_token(writer, self.received)
        writer.varint(self.count).put(self.sum).varint(self.refused)


@dataclass(frozen=True)
class Resync(ZoneMessage):
    type: ClassVar[int] = 8
    round: int

    @classmethod
    def read_rest(cls, reader: Reader) -> tuple:
        return (reader.count(1 << 30),)

    def write_rest(self, writer: Writer) -> None:
        writer.varint(self.round)


@dataclass(frozen=True)
class Ping(Message):
    type: ClassVar[int] = 9
    content: bytes

    @classmethod
    def read(cls, reader: Reader) -> "Ping":
        return cls(reader.take(8))

    def write(self, writer: Writer) -> None:
        writer.put(self.content)


@dataclass(frozen=True)
class Pong(Ping):
    type: ClassVar[int] = 10


@dataclass(frozen=True)
class Error(Message):
    type: ClassVar[int] = 11
    code: int
    sentence: str

    @classmethod
    def read(cls, reader: Reader) -> "Error":
        return cls(reader.varint(), clean(reader.text(SENTENCE_BYTES)))

    def write(self, writer: Writer) -> None:
        writer.varint(self.code).text(cut(self.sentence, SENTENCE_BYTES))


@dataclass(frozen=True)
class Goodbye(Message):
    type: ClassVar[int] = 12

    @classmethod
    def read(cls, reader: Reader) -> "Goodbye":
        return cls()

    def write(self, writer: Writer) -> None:
        pass


@dataclass(frozen=True)
class Reconcile(ZoneMessage):
    type: ClassVar[int] = 13
    end: bool
    wanted: list[bytes]
    negentropy: bytes

    @classmethod
    def read_rest(cls, reader: Reader) -> tuple:
        end, wanted = reader.flag(), reader.count(WANTED_LIMIT)
        if wanted * 32 > reader.left:
            raise Malformed("a list of ids is longer than its message")
        ids = [reader.take(32) for _ in range(wanted)]
        negentropy = reader.sized(MESSAGE_LIMIT - 1)
        if end and negentropy:
            raise Malformed("the end of a reconciliation says something more")
        return end, ids, negentropy

    def write_rest(self, writer: Writer) -> None:
        writer.flag(self.end).varint(len(self.wanted))
        for wanted in self.wanted:
            writer.put(wanted)
        writer.sized(self.negentropy)


@dataclass(frozen=True)
class AssetRequest(Message):
    type: ClassVar[int] = 14
    hash: bytes
    offset: int
    length: int

    @classmethod
    def read(cls, reader: Reader) -> "AssetRequest":
        return cls(reader.take(32), reader.varint(), reader.varint())

    def write(self, writer: Writer) -> None:
        writer.put(self.hash).varint(self.offset).varint(self.length)


@dataclass(frozen=True)
class AssetChunk(Message):
    type: ClassVar[int] = 15
    hash: bytes
    offset: int
    content: bytes

    @classmethod
    def read(cls, reader: Reader) -> "AssetChunk":
        return cls(reader.take(32), reader.varint(), reader.sized(CHUNK_BYTES))

    def write(self, writer: Writer) -> None:
        writer.put(self.hash).varint(self.offset).sized(self.content)


@dataclass(frozen=True)
class AssetMissing(Message):
    type: ClassVar[int] = 16
    hash: bytes

    @classmethod
    def read(cls, reader: Reader) -> "AssetMissing":
        return cls(reader.take(32))

    def write(self, writer: Writer) -> None:
        writer.put(self.hash)


@dataclass(frozen=True)
class AssetsAvailable(Message):
    type: ClassVar[int] = 17
    hashes: list[bytes]

    @classmethod
    def read(cls, reader: Reader) -> "AssetsAvailable":
        return cls([reader.take(32) for _ in range(reader.count(AVAILABLE_LIMIT + 1))])

    def write(self, writer: Writer) -> None:
        writer.varint(len(self.hashes))
        for available in self.hashes:
            writer.put(available)


@dataclass(frozen=True)
class AssetsWanted(Message):
    type: ClassVar[int] = 18
    files: int
    bytes: int

    @classmethod
    def read(cls, reader: Reader) -> "AssetsWanted":
        return cls(reader.varint(), reader.varint())

    def write(self, writer: Writer) -> None:
        writer.varint(self.files).varint(self.bytes)


@dataclass(frozen=True)
class HouseholdDigest(Message):
    type: ClassVar[int] = 21
    digest: bytes

    @classmethod
    def read(cls, reader: Reader) -> "HouseholdDigest":
        return cls(reader.take(32))

    def write(self, writer: Writer) -> None:
        writer.put(self.digest)


@dataclass(frozen=True)
class HouseholdSet(Message):
    type: ClassVar[int] = 22
    household: Household
    port: int = 0
    addresses: list[tuple[bytes, str]] = field(default_factory=list)

    @classmethod
    def read(cls, reader: Reader) -> "HouseholdSet":
        household, port = Household.read(reader), reader.count(65_536)
        number = reader.count(ADDRESSES_LIMIT + 1)
        return cls(household, port, [(reader.take(32), reader.text(ADDRESS_BYTES)) for _ in range(number)])

    def write(self, writer: Writer) -> None:
        self.household.write(writer)
        writer.varint(self.port).varint(len(self.addresses))
        for key, address in self.addresses:
            writer.put(key).text(address)


class Union(IntEnum):
    """What becomes of two default zones that meet (protocol.md 7.12)."""

    NONE = 0
    MERGE = 1
    BESIDE = 2
    REPLACE_CALLER = 3
    REPLACE_LISTENER = 4


@dataclass(frozen=True)
class Open(Message):
    type: ClassVar[int] = 19
    union: Union
    zones: dict[ZoneID, Token | None]

    @classmethod
    def read(cls, reader: Reader) -> "Open":
        union = reader.u8()
        if union > Union.REPLACE_LISTENER:
            raise Malformed("an open has an unknown union")
        zones: dict[ZoneID, Token | None] = {}
        for _ in range(reader.count(ZONES_LIMIT + 1)):
            zone = ZoneID.read(reader)
            if zone in zones:
                raise Malformed("an open names a zone twice")
            zones[zone] = read_optional_token(reader)
        return cls(Union(union), zones)

    def write(self, writer: Writer) -> None:
        writer.u8(self.union).varint(len(self.zones))
        for zone, token in self.zones.items():
            zone.write(writer)
            write_optional_token(writer, token)


@dataclass(frozen=True)
class Refuse(ZoneMessage):
    type: ClassVar[int] = 20
    reason: int
    names: list[str] = field(default_factory=list)

    @classmethod
    def read_rest(cls, reader: Reader) -> tuple:
        reason, number = reader.count(256), reader.count(REFUSED_LIMIT + 1)
        if number > reader.left:
            raise Malformed("a list of names is longer than its message")
        names = [reader.text(NAME_BYTES) for _ in range(number)]
        for name in names:
            check_record_name(name)
        return reason, names

    def write_rest(self, writer: Writer) -> None:
        writer.varint(self.reason).varint(len(self.names))
        for name in self.names:
            writer.text(name)


TYPES: dict[int, type[Message]] = {
    kind.type: kind
    for kind in (
        Hello, PairingShare, PairingTag, Begin, BatchMessage, Acknowledge, Digest, Resync, Ping, Pong, Error, Goodbye,
        Reconcile, AssetRequest, AssetChunk, AssetMissing, AssetsAvailable, AssetsWanted, Open, Refuse,
        HouseholdDigest, HouseholdSet,
    )
}  # fmt: skip


def decode(body: bytes) -> Message | None:
    """The message in these bytes, type and payload; None for a type that this version does not know (5.1)."""
    reader = Reader(body)
    kind = TYPES.get(reader.varint())
    return kind.read(reader) if kind else None
