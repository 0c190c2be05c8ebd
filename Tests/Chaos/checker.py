"""Says whether what five machines hold at the end follows from what their users have committed.

It shares no code with the program, and knows nothing of stamps. It knows what any rule of “the last writer wins” owes its users:

- A value is there that somebody wrote, and no other value that certainly came later. One write came certainly later than another
  if its user saw the other's value, or the machine showed it in place of the other's; or if so much time lies between the
  two that no clock could have been that wrong.
- A record that somebody committed is there, unless somebody deleted it. A deleted record is gone, unless somebody wrote to it
  who had not seen the deletion.
- All machines hold the same.

A machine whose database a backup replaced may lose what it had written since, if no other machine had heard of it. Nothing is
asked of these writes.
"""

import contextlib
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from writes import FIELDS, Write, by_record

Table = dict[str, dict[str, str | None]]
"""The fields of the records of all tables, by name of the record."""


@dataclass(frozen=True)
class Gap:
    """Some writes of one machine that a backup may have taken away: those after one, up to another one."""

    machine: str
    after: int
    last: int

    def has(self, write: Write) -> bool:
        return write.machine == self.machine and self.after < write.number <= self.last


def content(database: Path) -> Table:
    found: Table = {}
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=60)) as connection:
        for table, fields in FIELDS.items():
            for name, *values in connection.execute(f"SELECT recordName, {', '.join(fields)} FROM {table}"):
                found[name] = dict(zip(fields, values))
    return found


def is_sound(database: Path) -> bool:
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=60)) as connection:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def violations(writes: Iterable[Write], gaps: list[Gap], tables: dict[str, Table], margin: float) -> list[str]:
    """What is wrong, a sentence each.

    tables: what each machine holds at the end.
    margin: by how many seconds two clocks may have differed, at most.
    """
    found: list[str] = []
    (first, expected), *others = tables.items()
    for name, table in others:
        different = sorted(record for record in expected.keys() | table.keys() if expected.get(record) != table.get(record))
        if different:
            found.append(f"{first} and {name} differ in {len(different)} records, as {different[0]}")
    records = by_record(writes)
    for record in sorted(expected.keys() - records.keys()):
        found.append(f"nobody wrote {record}")
    for record, all_of_it in records.items():
        found += History(record, all_of_it, gaps, margin).violations(expected.get(record))
    return found


class History:
    """The writes to one record, and which came after which."""

    def __init__(self, record: str, writes: list[Write], gaps: list[Gap], margin: float) -> None:
        self._record = record
        self._writes = writes
        self._margin = margin
        self._owed = {write.value for write in writes if not any(gap.has(write) for gap in gaps)}
        self._deletions = [write for write in writes if write.is_deletion]
        fields = {field for write in writes for field in write.fields}
        self._later = {field: self._successors(field) for field in fields}

    def _successors(self, field: str) -> dict[str, set[str]]:
        """By value, the values that the machines have shown or written right after it."""
        later: dict[str, set[str]] = {}
        last: dict[tuple[str, int], str] = {}
        for write in sorted(self._writes, key=lambda write: (write.machine, write.number)):
            machine = (write.machine, write.epoch)
            seen = write.seen.get(field)
            shown = ([seen] if seen is not None else []) + ([write.value] if field in write.fields else [])
            for value in shown:
                if machine in last and last[machine] != value:
                    later.setdefault(last[machine], set()).add(value)
                last[machine] = value
        return later

    def _after(self, field: str, value: str) -> set[str]:
        """All values of a field that came after one."""
        found: set[str] = set()
        waiting = [value]
        while waiting:
            for later in self._later.get(field, {}).get(waiting.pop(), ()):
                if later not in found:
                    found.add(later)
                    waiting.append(later)
        return found

    def violations(self, row: dict[str, str | None] | None) -> list[str]:
        if row is None:
            owed = [write for write in self._writes if write.value in self._owed and not write.is_deletion]
            if owed and not self._deletions:
                return [f"{self._record} is missing, and nobody deleted it"]
            end = max((write.end for write in self._deletions), default=0) + self._margin
            return [
                f"{self._record} is missing, and {write.value} wrote to it long after anybody deleted it"
                for write in owed if write.begin > end
            ][:1]  # fmt: skip
        found = [self._returned(deletion) for deletion in self._deletions if deletion.value in self._owed]
        found += [self._beaten(field, value) for field, value in row.items()]
        return [sentence for sentence in found if sentence]

    def _returned(self, deletion: Write) -> str | None:
        """A sentence if every write to the record was known to who deleted it."""
        for write in self._writes:
            for field in write.fields:
                seen = deletion.seen.get(field)
                if seen != write.value and (seen is None or seen not in self._after(field, write.value)):
                    return None
        return f"{self._record} is there, although {deletion.value} deleted it and knew all writes"

    def _beaten(self, field: str, value: str | None) -> str | None:
        setting = {write.value: write for write in self._writes if field in write.fields}
        if value is None:
            lost = sorted(setting.keys() & self._owed)
            return f"{self._record} has no {field}, and {lost[0]} wrote it" if lost else None
        if value not in setting:
            return f"{self._record} has a {field} that nobody wrote: {value}"
        later = self._after(field, value) & self._owed & setting.keys()
        if later:
            return f"{self._record} has the {field} of {value}, and {sorted(later)[0]} came after it"
        end = setting[value].end + self._margin
        for write in setting.values():
            if write.value in self._owed and write.begin > end:
                return f"{self._record} has the {field} of {value}, and {write.value} wrote it long after"
        return None
