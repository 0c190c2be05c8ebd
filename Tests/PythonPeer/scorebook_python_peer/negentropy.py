"""Reconciliation with Negentropy, after Protocol/negentropy.md."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import NamedTuple

from .errors import Malformed
from .records import SUM_MODULUS, Item, base128, fingerprint_of
from .wire import Reader

VERSION = 0x61
INFINITY = (1 << 64) - 1
ID_BYTES = 32
SKIP, FINGERPRINT, ID_LIST = 0, 1, 2
BUCKETS = 16
MESSAGE_BYTES = 60_000
ROOM = 200
"""What a bound, a mode and a fingerprint behind the rest may take."""
CLAIMED_LIMIT = 1 << 22
"""How many ids that the asking side lacks the other side may claim to have."""


class Bound(NamedTuple):
    """The exclusive end of a range: a time and the beginning of an id."""

    time: int
    prefix: bytes = b""

    @property
    def item(self) -> Item:
        return Item(self.time, self.prefix.ljust(ID_BYTES, b"\0"))


END = Bound(INFINITY)


class Range(NamedTuple):
    """A range of a message; its lower bound is the upper bound of the one before."""

    bound: Bound
    mode: int
    fingerprint: bytes = b""
    ids: list[bytes] = []


class Difference(NamedTuple):
    """What an answer told the asking side."""

    message: bytes | None
    """What to send next; None when there is nothing more to say."""
    only_here: list[bytes]
    """Ids that no answer before told; so of those of the other side."""
    only_there: list[bytes]


class Negentropy:
    """One side of a reconciliation over a fixed set of items."""

    def __init__(self, items: Iterable[Item], message_bytes: int = MESSAGE_BYTES) -> None:
        self._items = sorted(items)
        self._message_bytes = message_bytes
        self._sums = [0, *accumulate(int.from_bytes(item.id, "little") for item in self._items)]
        self._told_here: set[bytes] = set()  # a range may be listed more than once
        self._told_there: set[bytes] = set()

    def __len__(self) -> int:
        return len(self._items)

    def first_message(self) -> bytes:
        """What the asking side sends first: one range over everything, split."""
        output = _Output()
        self._split(output, 0, len(self._items), END)
        return output.data()

    def answer(self, query: bytes) -> bytes:
        """What the answering side says to a message."""
        message, _, _ = self._process(query, asking=False)
        assert message is not None
        return message

    def take(self, answer: bytes) -> Difference:
        """What the asking side makes of an answer."""
        return self._process(answer, asking=True)

    def _process(self, query: bytes, asking: bool) -> Difference:
        output = _Output()
        only_here: list[bytes] = []
        only_there: list[bytes] = []
        lower = 0
        is_full = False
        for bound, mode, fingerprint, ids in self._read_ranges(query):
            upper = bisect_left(self._items, bound.item, lower)
            if mode == FINGERPRINT and fingerprint != self._fingerprint(lower, upper):
                self._split(output, lower, upper, bound)
            elif mode == ID_LIST and asking:
                theirs = set(ids)
                own = [item.id for item in self._items[lower:upper]]
                only_here += _news([record for record in own if record not in theirs], self._told_here)
                only_there += _news(theirs.difference(own), self._told_there)
                if len(self._told_there) > CLAIMED_LIMIT:
                    raise Malformed("the other side claims to have too many records")
                output.skip_to(bound)
            elif mode == ID_LIST:
                room = max(self._message_bytes - ROOM - len(output), 0) // ID_BYTES
                if upper - lower > room:
                    upper = lower + room
                    bound = Bound(*self._items[upper])
                    is_full = True
                output.id_list(bound, [item.id for item in self._items[lower:upper]])
            else:
                output.skip_to(bound)
            lower = upper
            if is_full or len(output) > self._message_bytes - ROOM:
                output.fingerprint(END, self._fingerprint(lower, len(self._items)))
                break
        if asking and not output.says_anything:
            return Difference(None, only_here, only_there)
        return Difference(output.data(), only_here, only_there)

    def _split(self, output: "_Output", lower: int, upper: int, bound: Bound) -> None:
        """Says what is in a range: the ids if they are few, otherwise fingerprints of its parts."""
        count = upper - lower
        if count < BUCKETS * 2:
            output.id_list(bound, [item.id for item in self._items[lower:upper]])
            return
        each, extra = divmod(count, BUCKETS)
        for bucket in range(BUCKETS):
            end = lower + each + (bucket < extra)
            end_bound = bound if end == upper else _between(self._items[end - 1], self._items[end])
            output.fingerprint(end_bound, self._fingerprint(lower, end))
            lower = end

    def _fingerprint(self, lower: int, upper: int) -> bytes:
        return fingerprint_of((self._sums[upper] - self._sums[lower]) % SUM_MODULUS, upper - lower)

    def _read_ranges(self, message: bytes) -> Iterator[Range]:
        reader = Reader(message)
        if reader.u8() != VERSION:  # protocol.md 7.10 knows version 1 only
            raise Malformed("Negentropy of another version")
        time = 0
        previous = Item(0, bytes(ID_BYTES))
        while reader.left:
            offset = _read_base128(reader)
            time = INFINITY if offset == 0 else time + offset - 1
            if offset > 0 and time >= INFINITY:
                raise Malformed("a time of Negentropy is too great")
            length = _read_base128(reader)
            if length > ID_BYTES:
                raise Malformed("a bound of Negentropy is too long")
            bound = Bound(time, reader.take(length))
            if bound.item < previous:
                raise Malformed("the ranges of Negentropy do not ascend")
            previous = bound.item
            yield self._read_payload(bound, reader)

    def _read_payload(self, bound: Bound, reader: Reader) -> Range:
        mode = _read_base128(reader)
        if mode == SKIP:
            return Range(bound, mode)
        if mode == FINGERPRINT:
            return Range(bound, mode, fingerprint=reader.take(16))
        if mode != ID_LIST:
            raise Malformed("a range of Negentropy has an unknown mode")
        count = _read_base128(reader)
        if count * ID_BYTES > reader.left:
            raise Malformed("a list of ids is longer than its message")
        return Range(bound, mode, ids=[reader.take(ID_BYTES) for _ in range(count)])


class _Output:
    """A message in the making. What need not be looked at any more is put off until something follows it."""

    def __init__(self) -> None:
        self._data = bytearray((VERSION,))
        self._time = 0
        self._skipped: Bound | None = None

    def __len__(self) -> int:
        return len(self._data)

    @property
    def says_anything(self) -> bool:
        return len(self._data) > 1

    def data(self) -> bytes:
        return bytes(self._data)

    def skip_to(self, bound: Bound) -> None:
        self._skipped = bound

    def fingerprint(self, bound: Bound, content: bytes) -> None:
        self._range(bound, FINGERPRINT, content)

    def id_list(self, bound: Bound, ids: list[bytes]) -> None:
        self._range(bound, ID_LIST, base128(len(ids)) + b"".join(ids))

    def _range(self, bound: Bound, mode: int, content: bytes) -> None:
        if self._skipped is not None:
            self._bound(self._skipped)
            self._data.append(SKIP)
            self._skipped = None
        self._bound(bound)
        self._data.append(mode)
        self._data += content

    def _bound(self, bound: Bound) -> None:
        if bound.time == INFINITY:
            self._data += base128(0)
        else:
            self._data += base128(bound.time - self._time + 1)
            self._time = bound.time
        self._data += base128(len(bound.prefix)) + bound.prefix


def _news(ids: Iterable[bytes], told: set[bytes]) -> list[bytes]:
    """Those of some ids that were not told before; they count as told."""
    news = [record for record in ids if record not in told]
    told.update(news)
    return news


def _between(last: Item, first: Item) -> Bound:
    """The shortest bound that parts two neighbours."""
    if last.milliseconds != first.milliseconds:
        return Bound(first.milliseconds)
    common = next(n for n in range(ID_BYTES) if last.id[n] != first.id[n])
    return Bound(first.milliseconds, first.id[: common + 1])


def _read_base128(reader: Reader) -> int:
    number = 0
    for _ in range(10):
        byte = reader.u8()
        if number == 0 and byte == 0x80:
            break
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            if number > INFINITY:
                break
            return number
    raise Malformed("a number of Negentropy is too large, or begins with nothing")
