"""Messages that break the rules, and some that look as if they did."""

import math
import struct
from collections.abc import Callable
from dataclasses import replace

from probe import ALIVE, BOTH, CALLER, CASES, CUT, ENDED, Case, Probe, case, section
from scorebook_python_peer.channel import write_frame
from scorebook_python_peer.messages import (
    Acknowledge,
    AssetChunk,
    AssetMissing,
    AssetRequest,
    AssetsAvailable,
    AssetsWanted,
    Begin,
    Digest,
    Goodbye,
    Message,
    OfferedZone,
    Open,
    PairingShare,
    Ping,
    Pong,
    Reconcile,
    Refuse,
    Resync,
    Right,
    Union,
)  # fmt: skip
from scorebook_python_peer.names import ZoneID
from scorebook_python_peer.negentropy import Negentropy
from scorebook_python_peer.records import Item
from scorebook_python_peer.store import wall_clock
from scorebook_python_peer.tokens import START, Token
from scorebook_python_peer.values import NULL
from scorebook_python_peer.wire import encode_varint, with_length


def raw(type: int, payload: bytes) -> bytes:
    body = encode_varint(type) + payload
    return with_length(body)


def stamp_bytes(milliseconds: int, replica: int = 0) -> bytes:
    return (milliseconds << 16).to_bytes(8, "big") + encode_varint(replica)


THEN = 1_600_000_000_000
ENTRY_TOKEN = Token(b"probe", 7)


def batch(
    records: bytes = b"\0", *, flags: int = 1, replicas: bytes = b"\1" + bytes(8), types: bytes = b"\1\6SBGame",
    shapes: bytes = b"\1\0\1\4year", token: Token = ENTRY_TOKEN, zone: int = 0,
) -> bytes:  # fmt: skip
    head = encode_varint(zone) + token.encode() + bytes((flags,))
    return raw(5, head + replicas + types + shapes + records)


def record(
    value: bytes, *, shape: bytes = b"\0", name: bytes = b"\0\5probe", flags: int = 0, stamps: bytes | None = None
) -> bytes:
    return b"\1" + shape + name + bytes((flags,)) + (stamp_bytes(THEN) if stamps is None else stamps) + value


def value_case(name: str, expected: str, value: bytes) -> None:
    case(f"value: {name}", expected, "run", batch(record(value)))


MALFORMED, UNEXPECTED = "error 1", "error 2"

# Envelope and frames (2, 5.1)
section("5.1")
case("a message of unknown type", ALIVE, "run", raw(99, b"abc"))
case("a message of no bytes", MALFORMED, "run", b"\0")
case("a ping that ends early", MALFORMED, "run", raw(9, b"1234567"))
case("a ping with more behind it", ALIVE, "run", raw(9, b"12345678more"))
case("a message that is too long", MALFORMED, "run", encode_varint((16 << 20) + 1))
case("a length in more bytes than needed", ALIVE, "run", b"\x40\x09\x09" + b"12345678")
case("a pong that nobody asked for", ALIVE, "run", Pong(b"12345678"))
case("a type in more bytes than needed", ALIVE, "run", b"\x0a\x40\x09" + b"12345678")


async def _empty_frame(probe: Probe) -> None:
    await probe.run()
    write_frame(probe.channel._writer, probe.channel._sending.encrypt(b""))


async def _broken_frame(probe: Probe) -> None:
    await probe.run()
    write_frame(probe.channel._writer, bytes(40))


async def _frame_of_nothing(probe: Probe) -> None:
    await probe.run()
    write_frame(probe.channel._writer, b"")


CASES.append(Case("2", "a frame without plaintext", ALIVE, _empty_frame, BOTH))
CASES.append(Case("2", "a frame that does not decrypt", CUT, _broken_frame, BOTH))
CASES.append(Case("2", "a frame of length 0", MALFORMED, _frame_of_nothing, BOTH))

# Before the greeting (4.1, 7.1)
section("7.1")
case("ping in the place of a hello", UNEXPECTED, "hello_due", Ping(b"12345678"))
case("open in the place of a hello", UNEXPECTED, "hello_due", Open(Union.NONE, {}))
case("a long message before the hello", MALFORMED, "first", encode_varint(65_537))
case("unknown, then hello, then open", ALIVE, "first", raw(99, b""), lambda p: p.hello(), lambda p: p.no_open())
case("pongs before the hello and before the open", ALIVE, "first",
    Pong(b"12345678"), lambda p: p.hello(), Pong(b"12345678"), lambda p: p.no_open())  # fmt: skip
case("a ping in the place of the open", UNEXPECTED, "greet", Ping(b"12345678"))
case("a pairing share without a code", "error 5", "first", PairingShare(bytes(32)))
case("a hello that ends early", MALFORMED, "hello_due", raw(1, b"\0"))


def _offer(**changes) -> Callable[[Probe], Message]:
    def make(probe: Probe) -> Message:
        (offer,) = probe.hello().zones
        return probe.hello(zones=[replace(offer, **changes)])

    return make


def _two_offers(second_is_default: bool, same: bool) -> Callable[[Probe], Message]:
    def make(probe: Probe) -> Message:
        (offer,) = probe.hello().zones
        zone = offer.zone if same else ZoneID("other", 7)
        return probe.hello(zones=[offer, OfferedZone(zone, "x", second_is_default, False, Right.READ, 0, bytes(16))])

    return make


def _patched_hello(rights: int, flags: int) -> Callable[[Probe], bytes]:
    def make(probe: Probe) -> bytes:
        data = bytearray(probe.hello().encode())
        at = data.rindex(b"\x05probe") + 6
        data[at], data[at + 1] = flags, rights
        return bytes(data)

    return make


case("hello with two default zones", MALFORMED, "hello_due", _two_offers(True, False))
case("hello with one zone twice", MALFORMED, "hello_due", _two_offers(False, True))
case("hello with rights 0", MALFORMED, "hello_due", _patched_hello(0, 3))
case("hello with rights 3", MALFORMED, "hello_due", _patched_hello(3, 3))
case("hello with unknown flags", ALIVE, "first", _patched_hello(2, 0x83), lambda p: p.no_open())
case("hello with a zone without name", MALFORMED, "hello_due", _offer(zone=ZoneID("", 7)))
case("hello with a zone of an odd name", MALFORMED, "hello_due", _offer(zone=ZoneID("zöne", 7)))
case("hello with 65 zones", MALFORMED, "hello_due", lambda p: p.hello(
    zones=[OfferedZone(ZoneID(f"z{n}", 7), "x", False, False, Right.READ, 0, bytes(16)) for n in range(65)]))  # fmt: skip
case("hello without zones", ALIVE, "first", lambda p: p.hello(zones=[]), lambda p: p.no_open())
case("a union of zones that do not meet", UNEXPECTED, "first",
    lambda p: p.hello(zones=[]), lambda p: Open(Union.REPLACE_CALLER, {p.zone.id: None}))  # fmt: skip
case("a zone that is called nothing", MALFORMED, "hello_due", _offer(title=""))
case("a zone that is called something odd", MALFORMED, "hello_due", _offer(title="zöne"))
section("7.12")
case("a second hello", UNEXPECTED, "greet", lambda p: p.hello())
case("begin in the place of an open", UNEXPECTED, "greet", Begin(0, False, False, 0))
case("open with an unknown union", MALFORMED, "greet", raw(19, b"\5\0"))
case("open without zones", "error 9", "greet", Open(Union.NONE, {}))
case("open with a zone that is not there", "error 9", "greet", Open(Union.NONE, {ZoneID("x", 7): None}))
case("open with a zone twice", MALFORMED, "greet", lambda p: raw(
    19, b"\0\2" + 2 * (with_length(p.zone.id.name.encode()) + p.zone.id.owner.to_bytes(8, "big") + b"\0")))  # fmt: skip
case("open with merge of one zone", UNEXPECTED, "greet", lambda p: Open(Union.MERGE, {p.zone.id: None}))
case("open with beside of one zone", UNEXPECTED, "greet", lambda p: Open(Union.BESIDE, {p.zone.id: None}))
case("open that replaces the listener", "error 20", "greet", lambda p: Open(Union.REPLACE_LISTENER, {p.zone.id: None}),
    roles=(CALLER,))  # fmt: skip

# The running session
section("7")
case("a second open", UNEXPECTED, "run", Open(Union.NONE, {}))
case("a hello after the greeting", UNEXPECTED, "run", lambda p: p.hello())
case("a pairing share after the greeting", UNEXPECTED, "run", PairingShare(bytes(32)))
case("a second begin", UNEXPECTED, "run", Begin(0, False, False, 0))
case("begin with a flag of 2", MALFORMED, "run", raw(4, b"\0\2\0\0"))
case("a zone that the session does not have", MALFORMED, "run", Acknowledge(1, START))
case("a zone of 64", MALFORMED, "run", Acknowledge(64, START))
case("an acknowledgement of nothing", UNEXPECTED, "run", Acknowledge(0, ENTRY_TOKEN))
case("a generation of 33 bytes", MALFORMED, "run", Acknowledge(0, Token(bytes(33), 1)))
case("a horizon that is the sequence", MALFORMED, "run", Acknowledge(0, Token(b"probe", 7, 7)))
section("7.7")
case("resync of round 0", ALIVE, "run", Resync(0, 0))
case("resync of round 2^30", MALFORMED, "run", Resync(0, 1 << 30))
case("resync twice", UNEXPECTED, "run", Resync(0, 1), Resync(0, 2))
section("7.10")
case("reconcile where nothing is reconciled", UNEXPECTED, "run", Reconcile(0, False, [], b"a"))
section("7.12")
case("refuse of unknown records", ALIVE, "run", Refuse(0, 1, ["SBGame|~|never seen"]))
case("refuse for an unknown reason", ALIVE, "run", Refuse(0, 77, []))
case("refuse of what is no name", MALFORMED, "run", Refuse(0, 1, ["no name"]))
section("7.6")
case("a digest with too many refused", MALFORMED, "run", Digest(0, START, None, 0, bytes(32), 1 << 30))
section("11")
case("goodbye", ENDED, "run", Goodbye())

section("7.3")
case("a batch before the begin", UNEXPECTED, "opened", batch())
case("an acknowledgement before the begin", UNEXPECTED, "opened", Acknowledge(0, ENTRY_TOKEN))
case("a digest before the begin", UNEXPECTED, "opened", Digest(0, START, None, 0, bytes(32), 0))
case("a resync before the begin", UNEXPECTED, "opened", Resync(0, 1))
case("a reconcile before the begin", UNEXPECTED, "opened", Reconcile(0, False, [], b"\x61"))
case("a refuse before the begin", UNEXPECTED, "opened", Refuse(0, 1, []))

# Batches
section("6.6")
case("a batch without records", ALIVE, "run", batch())
case("a batch with unknown flags", ALIVE, "run", batch(flags=0xFD))
case("a loose batch", UNEXPECTED, "run", batch(flags=3))
case("a batch with more behind it", ALIVE, "run", batch(b"\0more"))
case("a replica that is not in the table", MALFORMED, "run", batch(record(NULL, stamps=stamp_bytes(THEN, 1))))
case("a shape that is not in the table", MALFORMED, "run", batch(record(NULL, shape=b"\1")))
case("a shape of an unknown type", MALFORMED, "run", batch(shapes=b"\1\1\1\4year"))
case("a shape whose fields descend", MALFORMED, "run", batch(shapes=b"\1\0\2\1b\1a"))
case("a shape with a field twice", MALFORMED, "run", batch(shapes=b"\1\0\2\1a\1a"))
case("a field that is no identifier", MALFORMED, "run", batch(shapes=b"\1\0\1\3a-b"))
case("a type that is no identifier", MALFORMED, "run", batch(types=b"\1\0031ab", shapes=b"\0"))
case("a type of 64 bytes", MALFORMED, "run", batch(types=b"\1\x40\x40" + b"a" * 64, shapes=b"\0"))
case("more replicas than bytes", MALFORMED, "run", batch(replicas=b"\x7f\xff" + bytes(8)))
case("more types than bytes", MALFORMED, "run", batch(types=b"\x7f\xff\6SBGame"))
case("more records than bytes", MALFORMED, "run", batch(b"\x7f\xff" + record(NULL)[1:]))
case("record flag 16", MALFORMED, "run", batch(record(NULL, flags=16)))
case("a record that says nothing", MALFORMED, "run", batch(b"\1\0\0\5probe\0", shapes=b"\1\0\0"))
case("exceptions of a record without fields", ALIVE, "run", batch(
    b"\1\0\0\5probe\5" + stamp_bytes(THEN) + b"\0", shapes=b"\1\0\0"))  # fmt: skip
case("an exception for a field that is not there", MALFORMED, "run", batch(
    record(NULL, flags=4, stamps=stamp_bytes(THEN) + b"\1\1" + stamp_bytes(THEN))))  # fmt: skip
case("more exceptions than fields", MALFORMED, "run", batch(
    record(NULL, flags=4, stamps=stamp_bytes(THEN) + b"\2" + 2 * (b"\0" + stamp_bytes(THEN)))))  # fmt: skip
case("a name of form 3", MALFORMED, "run", batch(record(NULL, name=b"\3" + bytes(16))))
case("a name without suffix", MALFORMED, "run", batch(record(NULL, name=b"\0\0")))
case("a name with a control character", MALFORMED, "run", batch(record(NULL, name=b"\0\1\n")))
case("a name that is too long", MALFORMED, "run", batch(record(NULL, name=b"\0\x40\xfa" + b"a" * 250)))
case("a uuid in form 0", ALIVE, "run", batch(record(NULL, name=b"\0\x240192f0c1-7a51-7cc2-9a5e-6d1b7a52e1ff")))
case("a suffix that holds the separator", ALIVE, "run", batch(record(NULL, name=b"\0\5a|~|b")))
case("a record twice in a batch", ALIVE, "run", batch(b"\2" + 2 * record(NULL)[1:]))
case("a stamp in the future", "error 8", "run", lambda p: batch(record(NULL, stamps=stamp_bytes(wall_clock() + 400_000))))
case("a stamp a little in the future", ALIVE, "run", lambda p: batch(record(NULL, stamps=stamp_bytes(wall_clock() + 200_000))))
case("a deletion in the future", "error 8", "run", lambda p: batch(
    b"\1\0\0\5probe\1" + stamp_bytes(wall_clock() + 400_000), shapes=b"\1\0\0"))  # fmt: skip
case("a revival in the future", "error 8", "run", lambda p: batch(
    b"\1\0\0\5probe\2" + stamp_bytes(wall_clock() + 400_000), shapes=b"\1\0\0"))  # fmt: skip
case("a revival in the future of a record that was deleted for ever", "error 8", "run", lambda p: batch(
    b"\1\0\0\5probe\13" + stamp_bytes(THEN) + stamp_bytes(wall_clock() + 400_000) + stamp_bytes(THEN),
    shapes=b"\1\0\0"))  # fmt: skip
case("an erasure without a deletion", MALFORMED, "run", batch(
    b"\1\0\0\5probe\10" + stamp_bytes(THEN), shapes=b"\1\0\0"))  # fmt: skip
case("an erasure that is greater than the deletion", MALFORMED, "run", batch(
    b"\1\0\0\5probe\11" + stamp_bytes(THEN) + stamp_bytes(THEN + 1), shapes=b"\1\0\0"))  # fmt: skip
case("a record that is erased", ALIVE, "run", batch(
    b"\1\0\0\5probe\11" + stamp_bytes(THEN) + stamp_bytes(THEN), shapes=b"\1\0\0"))  # fmt: skip
case("an exception in the future that a later one replaces", ALIVE, "run", lambda p: batch(
    record(NULL, flags=4, stamps=stamp_bytes(THEN) + b"\1\0" + stamp_bytes(THEN + 1))))  # fmt: skip
case("a base stamp in the future that no field has", ALIVE, "run", lambda p: batch(
    record(NULL, flags=4, stamps=stamp_bytes(wall_clock() + 400_000) + b"\1\0" + stamp_bytes(THEN + 2))))  # fmt: skip
case("a batch cut off in a record", MALFORMED, "run", batch(record(NULL)[:-1]))
case("a shape of 1025 fields", MALFORMED, "run", batch(
    shapes=b"\1\0" + encode_varint(1025) + b"".join(with_length(b"f%04d" % n) for n in range(1025))))  # fmt: skip


def _many_fields(fields: int, records: int) -> bytes:
    shape = b"\1\0" + encode_varint(fields) + b"".join(with_length(b"f%04d" % n) for n in range(fields))
    one = b"\0" + b"\0\4%04d" + b"\0" + stamp_bytes(THEN) + bytes(fields)
    content = b"".join(one[:3] + b"%04d" % n + one[7:] for n in range(records))
    return batch(encode_varint(records) + content, types=b"\1\6Hollow", shapes=shape)


case("a batch of more than 2^20 fields", MALFORMED, "run", _many_fields(1024, 1025))
case("a record of 1024 fields", ALIVE, "run", batch(
    record(bytes(1024), name=b"\0\4full"), shapes=b"\1\0" + encode_varint(1024) + b"".join(with_length(b"f%04d" % n) for n in range(1024))))  # fmt: skip
case("a record that comes to more than 1024 fields", ALIVE, "run", batch(
    record(bytes(1024), name=b"\0\4many"),
    shapes=b"\1\0" + encode_varint(1024) + b"".join(with_length(b"f%04d" % n) for n in range(1024))),
    batch(record(NULL, name=b"\0\4many"), shapes=b"\1\0\1\4more"))  # fmt: skip

# Values (6.3)
section("6.3")
value_case("tag 01", MALFORMED, b"\x01")
value_case("tag 05", MALFORMED, b"\x05")
value_case("tag 19", MALFORMED, b"\x19" + bytes(9))
value_case("tag 29", MALFORMED, b"\x29" + bytes(9))
value_case("tag 30", MALFORMED, b"\x30")
value_case("0 in one byte", MALFORMED, b"\x11\x00")
value_case("127 in two bytes", MALFORMED, b"\x12\x00\x7f")
value_case("-1 in two bytes", MALFORMED, b"\x12\xff\xff")
value_case("the least integer", ALIVE, b"\x18\x80" + bytes(7))
value_case("a date after 9999", MALFORMED, b"\x27" + (253_402_300_800_000).to_bytes(7, "big"))
value_case("the last date", ALIVE, b"\x27" + (253_402_300_799_999).to_bytes(7, "big"))
value_case("a date before 0000", MALFORMED, b"\x26" + (-62_167_219_200_001).to_bytes(6, "big", signed=True))
value_case("the first date", ALIVE, b"\x26" + (-62_167_219_200_000).to_bytes(6, "big", signed=True))
value_case("not a number", MALFORMED, b"\x02" + struct.pack(">d", math.nan))
value_case("a negative NaN with content", MALFORMED, b"\x02\xff\xf0\0\0\0\0\0\1")
value_case("infinity", ALIVE, b"\x02" + struct.pack(">d", math.inf))
value_case("minus zero", ALIVE, b"\x02" + struct.pack(">d", -0.0))
value_case("text that is no UTF-8", MALFORMED, b"\x03\2\xc3\x28")
value_case("text of a surrogate", MALFORMED, b"\x03\3\xed\xa0\x80")
value_case("text in overlong UTF-8", MALFORMED, b"\x03\2\xc0\x80")
value_case("text with U+0000", ALIVE, b"\x03\3a\0b")
value_case("text with a long length", ALIVE, b"\x03\x40\1a")
value_case("text longer than the message", MALFORMED, b"\x03\xff\xff\xff\xff\xff\xff\xff\xff")
value_case("an empty blob", ALIVE, b"\x04\0")
value_case("a reference of an unknown type", MALFORMED, b"\x06\1\0\1a")
value_case("a reference without suffix", MALFORMED, b"\x06\0\0\0")
value_case("a reference in a field of integers", ALIVE, b"\x06\0\0\1a")


def asset_value(size: int = 5, media: bytes = b"image/png", name: bytes = b"a.png") -> bytes:
    return b"\x07" + bytes(32) + encode_varint(size) + with_length(media) + with_length(name)


value_case("an asset", ALIVE, asset_value())
value_case("an asset of no bytes", ALIVE, asset_value(0))
value_case("an asset of 2^31", ALIVE, asset_value(1 << 31))
value_case("an asset of 2^31 + 1", MALFORMED, asset_value((1 << 31) + 1))
for media in (
    b"image",
    b"image/",
    b"/png",
    b"Image/png",
    b"image/png; a=b",
    b"image/a/b",
    b"",
    b"image/" + b"a" * 122,
    b"a/\xc3\xa4",
):
    value_case(f"an asset of the media type {media[:20]!r}", MALFORMED, asset_value(media=media))
for media in (b"image/svg+xml", b"a/b!#$&-^_.+", b"1/2", b"image/" + b"a" * 121):
    value_case(f"an asset of the media type {media[:20]!r}", ALIVE, asset_value(media=media))
for media in (b"-a/b", b"a/.b"):
    value_case(f"an asset of the media type {media[:20]!r}", ALIVE, asset_value(media=media))
for name in (b".", b"..", b"a/b", b"a\\b", b"a\nb", b"a\xc2\x85b", b"a\0b", b"a" * 256, b"\xff"):
    value_case(f"an asset called {name[:20]!r}", MALFORMED, asset_value(name=name))
for name in (b"", b"...", b"a" * 255, "ä‮b".encode()):
    value_case(f"an asset called {name[:20]!r}", ALIVE, asset_value(name=name))

# Reconciliation (7.10)
section("7.10")
SMALL = Negentropy([Item(THEN, bytes([n]) * 32) for n in range(5)])
case("negentropy that is none", MALFORMED, "reconcile", Reconcile(0, False, [], b"garbage"))
case("negentropy of another version", MALFORMED, "reconcile", Reconcile(0, False, [], b"\x62"))
case("negentropy of no bytes", MALFORMED, "reconcile", Reconcile(0, False, [], b""))
case("negentropy with an unknown mode", MALFORMED, "reconcile", Reconcile(0, False, [], b"\x61\0\0\3"))
case("negentropy that ends early", MALFORMED, "reconcile", Reconcile(0, False, [], b"\x61\0\0\1abc"))
case(
    "negentropy with a long prefix", MALFORMED, "reconcile", Reconcile(0, False, [], b"\x61\5\x21" + bytes(33) + b"\0")
)
case(
    "negentropy with a number of 11 bytes",
    MALFORMED,
    "reconcile",
    Reconcile(0, False, [], b"\x61" + b"\xff" * 10 + b"\x7f\0\0"),
)
case("negentropy with a range behind infinity", MALFORMED, "reconcile", Reconcile(0, False, [], b"\x61\0\0\0\5\0\0"))
case(
    "negentropy with ranges that descend", MALFORMED, "reconcile", Reconcile(0, False, [], b"\x61\5\1\x09\0\1\1\x03\0")
)
case(
    "negentropy with a number that begins with nothing", MALFORMED, "reconcile",
    Reconcile(0, False, [], b"\x61\x80\x09\0\0"),
)  # fmt: skip
case("negentropy up to infinity twice", ALIVE, "reconcile", Reconcile(0, False, [], b"\x61" + 2 * b"\0\0\0"))
case("negentropy of the version alone", ALIVE, "reconcile", Reconcile(0, False, [], b"\x61"))
case("negentropy", ALIVE, "reconcile", Reconcile(0, False, [], SMALL.first_message()))
case(
    "more wanted than there are",
    MALFORMED,
    "reconcile",
    Reconcile(0, False, [bytes([n // 256, n % 256]) * 16 for n in range(65_000)], b"\x61"),
)
case("wanted, and not known", ALIVE, "reconcile", Reconcile(0, False, [bytes(32)], b"\x61"))
case("an end with bytes", MALFORMED, "reconcile", Reconcile(0, True, [], b"\x61"))
case("an end at once", ALIVE, "reconcile", Reconcile(0, True, [], b""))
case("reconcile after the end", UNEXPECTED, "reconcile", Reconcile(0, True, [], b""), Reconcile(0, False, [], b"\x61"))
case("a loose batch before the end", UNEXPECTED, "reconcile", Reconcile(0, False, [], b"\x61"), batch(flags=3))
case(
    "a loose batch after the last", UNEXPECTED, "reconcile", Reconcile(0, True, [], b""), batch(flags=3), batch(flags=3)
)
case("a digest while reconciling", ALIVE, "reconcile", Digest(0, START, None, 0, bytes(32), 0))
case("a resync while reconciling", UNEXPECTED, "reconcile", Resync(0, 1))

# Assets (7.11)
section("7.11")
HASH = b"h" * 32
case("a piece of a file that nobody asked for", UNEXPECTED, "run", AssetChunk(HASH, 0, b"abc"))
case("a piece of 65,281 bytes", MALFORMED, "run", AssetChunk(HASH, 0, bytes(65_281)))
case("missing, without a request", UNEXPECTED, "run", AssetMissing(HASH))
case("a request for no bytes", UNEXPECTED, "run", AssetRequest(HASH, 0, 0))
case("a request for too much", UNEXPECTED, "run", AssetRequest(HASH, 0, (16 << 20) + 1))
case("a request for what is not there", ALIVE, "run", AssetRequest(HASH, 0, 16 << 20))
case("a request at the end of numbers", ALIVE, "run", AssetRequest(HASH, (1 << 62) - 1, 5))
case("available, and never missing", ALIVE, "run", AssetsAvailable([HASH]))
case(
    "1025 that are available", MALFORMED, "run", AssetsAvailable([bytes([n // 256, n % 256]) * 16 for n in range(1025)])
)
case("wanted without end", ALIVE, "run", AssetsWanted((1 << 62) - 1, (1 << 62) - 1))
