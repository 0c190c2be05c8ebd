"""What the writers of a chaos note of each write that was committed, and how it is read back. One line of JSON each."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

FIELDS = {"SBPerson": ("firstName", "lastName", "emailAddress"), "SBGame": ("name",)}
"""The columns that the writers write, by table. Each value says which write it came from, and is there once."""


@dataclass(frozen=True)
class Write:
    """One transaction: some fields of a record are set, or the record is deleted."""

    machine: str
    number: int
    """Counts the writes of the machine. The values of write 7 of the study are `study-7`."""
    epoch: int
    """Counts how often a backup has taken the place of the machine's database."""
    record: str
    fields: tuple[str, ...]
    """The fields that were set; none if the record was deleted."""
    seen: dict[str, str | None]
    """What the fields of the record held right before, in the same transaction; nothing for a new record."""
    begin: float
    """When the transaction began, by a clock that all machines share and nobody sets."""
    end: float
    """When it was committed."""

    @property
    def value(self) -> str:
        return f"{self.machine}-{self.number}"

    @property
    def is_deletion(self) -> bool:
        return not self.fields

    def line(self) -> str:
        return json.dumps(asdict(self))


def read(path: Path) -> list[Write]:
    return [from_line(line) for line in path.read_text(encoding="utf-8").splitlines()]


def from_line(line: str) -> Write:
    content = json.loads(line)
    return Write(**{**content, "fields": tuple(content["fields"])})


def by_record(writes: Iterable[Write]) -> dict[str, list[Write]]:
    found: dict[str, list[Write]] = {}
    for write in writes:
        found.setdefault(write.record, []).append(write)
    return found
