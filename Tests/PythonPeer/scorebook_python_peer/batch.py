"""Batches on the wire (protocol.md 6.5, 6.6)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from .errors import Malformed
from .names import read_suffix, split_record_name, write_suffix
from .records import FIELDS_LIMIT, Stamp, State, Write
from .tokens import Token
from .values import TAG_REFERENCE, Value, read_value, referenced_name
from .wire import Reader, Writer

TABLE_LIMIT = 65_537
RECORD_BYTES = 4
"""No record takes fewer."""
BATCH_FIELDS_LIMIT = 1 << 20
FLAG_LAST = 1
FLAG_LOOSE = 2
HAS_DELETION = 1
HAS_REVIVAL = 2
HAS_EXCEPTIONS = 4
HAS_ERASURE = 8

Record = tuple[str, State]


@dataclass(frozen=True)
class Batch:
    """Some records of a zone, and the token that covers everything up to their end."""

    token: Token
    last: bool
    loose: bool
    records: list[Record] = field(default_factory=list)

    def encode(self) -> bytes:
        return _Encoder().encode(self)

    @classmethod
    def read(cls, reader: Reader) -> "Batch":
        token = Token.read(reader)
        flags = reader.u8()
        tables = _Tables(reader)
        records = []
        fields_left = BATCH_FIELDS_LIMIT
        for _ in range(_table_count(reader, RECORD_BYTES)):
            record = tables.read_record(reader, fields_left)
            fields_left -= len(record[1].fields)
            records.append(record)
        return cls(token, bool(flags & FLAG_LAST), bool(flags & FLAG_LOOSE), records)


class _Tables:
    """The tables at the beginning of a batch, and the reading of records by them."""

    def __init__(self, reader: Reader) -> None:
        self.replicas = [reader.u64() for _ in range(_table_count(reader, 8))]
        self.types = [reader.identifier() for _ in range(_table_count(reader, 2))]
        self.shapes = [self._read_shape(reader) for _ in range(_table_count(reader, 2))]

    def _read_shape(self, reader: Reader) -> tuple[str, list[str]]:
        record_type = self.types[reader.count(len(self.types))]
        fields: list[str] = []
        for _ in range(reader.count(FIELDS_LIMIT + 1)):
            name = reader.identifier()
            if fields and name <= fields[-1]:
                raise Malformed("the fields of a shape do not ascend")
            fields.append(name)
        return record_type, fields

    def read_stamp(self, reader: Reader) -> Stamp:
        time = reader.u64()
        return Stamp(time, self.replicas[reader.count(len(self.replicas))])

    def read_record(self, reader: Reader, fields_left: int) -> Record:
        record_type, fields = self.shapes[reader.count(len(self.shapes))]
        if len(fields) > fields_left:
            raise Malformed("a batch has too many fields")
        name = read_suffix(reader, record_type)
        flags = reader.u8()
        if flags & ~(HAS_DELETION | HAS_REVIVAL | HAS_EXCEPTIONS | HAS_ERASURE):
            raise Malformed("a record has unknown flags")
        deletion = self.read_stamp(reader) if flags & HAS_DELETION else None
        revival = self.read_stamp(reader) if flags & HAS_REVIVAL else None
        erasure = self.read_stamp(reader) if flags & HAS_ERASURE else None
        if erasure is not None and (deletion is None or deletion < erasure):
            raise Malformed("a record has an erasure, and no deletion that is not less")
        if not fields and deletion is None and revival is None:
            raise Malformed("a record says nothing")
        stamps = [self.read_stamp(reader)] * len(fields) if fields else []
        if flags & HAS_EXCEPTIONS:
            for _ in range(reader.count(len(fields) + 1)):
                number = reader.count(len(fields))
                stamps[number] = self.read_stamp(reader)
        writes = {field: Write(read_value(reader, self.types), stamp) for field, stamp in zip(fields, stamps)}
        return name, State(writes, deletion, revival, erasure).without_erased_fields()


def _table_count(reader: Reader, entry_bytes: int) -> int:
    """The number of entries of a table, held against the bytes that are left."""
    number = reader.count(TABLE_LIMIT)
    if number * entry_bytes > reader.left:
        raise Malformed("a table is longer than its message")
    return number


class _Encoder:
    """Writes a batch; the tables list entries in the order in which they are first needed."""

    def __init__(self) -> None:
        self._replicas: dict[int, int] = {}
        self._types: dict[str, int] = {}
        self._shapes: dict[tuple[int, tuple[str, ...]], int] = {}
        self._body = Writer()

    def encode(self, batch: Batch) -> bytes:
        for name, state in batch.records:
            self._record(name, state)
        head = Writer()
        batch.token.write(head)
        head.u8(FLAG_LAST * batch.last | FLAG_LOOSE * batch.loose)
        head.varint(len(self._replicas))
        for replica in self._replicas:
            head.u64(replica)
        head.varint(len(self._types))
        for record_type in self._types:
            head.text(record_type)
        head.varint(len(self._shapes))
        for type_number, fields in self._shapes:
            head.varint(type_number).varint(len(fields))
            for field_name in fields:
                head.text(field_name)
        head.varint(len(batch.records))
        return head.data() + self._body.data()

    def _record(self, name: str, state: State) -> None:
        record_type, suffix = split_record_name(name)
        fields = sorted(state.fields)
        shape = (_number(self._types, record_type), tuple(fields))
        self._body.varint(_number(self._shapes, shape))
        write_suffix(self._body, suffix)
        base = _base_stamp(state.fields.values())
        exceptions = [(n, state.fields[f].stamp) for n, f in enumerate(fields) if state.fields[f].stamp != base]
        self._body.u8(
            HAS_DELETION * (state.deletion is not None)
            | HAS_REVIVAL * (state.revival is not None)
            | HAS_EXCEPTIONS * bool(exceptions)
            | HAS_ERASURE * (state.erasure is not None)
        )
        for stamp in (state.deletion, state.revival, state.erasure, base):
            if stamp is not None:
                self._stamp(stamp)
        if exceptions:
            self._body.varint(len(exceptions))
            for number, stamp in exceptions:
                self._body.varint(number)
                self._stamp(stamp)
        for field_name in fields:
            self._value(state.fields[field_name].value)

    def _stamp(self, stamp: Stamp) -> None:
        self._body.u64(stamp.time).varint(_number(self._replicas, stamp.replica))

    def _value(self, value: Value) -> None:
        if value[0] != TAG_REFERENCE:
            self._body.put(value)
            return
        name = referenced_name(value)
        assert name is not None
        record_type, suffix = split_record_name(name)
        self._body.u8(TAG_REFERENCE).varint(_number(self._types, record_type))
        write_suffix(self._body, suffix)


def _number(table: dict, entry) -> int:
    """The number of an entry, which is put at the end of the table if it is new."""
    return table.setdefault(entry, len(table))


def _base_stamp(writes: Iterable[Write]) -> Stamp | None:
    """The stamp that most fields have, of several the smallest (protocol.md 6.6)."""
    counts = Counter(write.stamp for write in writes)
    if not counts:
        return None
    most = max(counts.values())
    return min(stamp for stamp, count in counts.items() if count == most)
