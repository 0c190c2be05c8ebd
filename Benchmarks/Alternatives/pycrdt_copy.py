"""A scorebook as a pycrdt document, in memory: one map for each table, in it one map for each record.

Each part runs in a process of its own, so that the memory of one does not count for the other:

    pycrdt_copy.py send STORE CHANGED DIRECTORY   writes the update of the whole and that of the changes
    pycrdt_copy.py receive DIRECTORY              applies both to an empty document

Both print a line of JSON; times are in seconds.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pycrdt import Doc, Map

TABLES = ("SBPerson", "SBGame", "SBMatch", "SBPlayer", "SBScore", "SBMatchLocation", "SBMatchImage")


def timed(work: Callable[[], bytes]) -> tuple[float, bytes]:
    """How long the work takes, and what it returns."""
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def fill(document: Doc, store: sqlite3.Connection) -> None:
    """Puts all records into the document, in one transaction; columns that are NULL are left out."""
    with document.transaction():
        for table in TABLES:
            records = document.get(table, type=Map)
            for row in store.execute(f"SELECT * FROM {table}"):
                values = {column: row[column] for column in row.keys() if row[column] is not None}
                records[values.pop("recordName")] = Map(values)


def change(document: Doc, store: sqlite3.Connection, changed: str) -> None:
    """Makes the players equal to those of the changed store, in one transaction."""
    store.execute("ATTACH ? AS changed", (changed,))
    rows = store.execute(
        "SELECT new.recordName, new.seatOrder FROM changed.SBPlayer AS new JOIN main.SBPlayer AS old USING (recordName) "
        "WHERE new.seatOrder IS NOT old.seatOrder"
    ).fetchall()
    players = document.get("SBPlayer", type=Map)
    with document.transaction():
        for name, seat in rows:
            players[name]["seatOrder"] = seat


def send(path: str, changed: str, directory: Path) -> dict[str, Any]:
    """Encodes the whole for somebody who has nothing, then the changes for somebody who has all before them."""
    store = sqlite3.connect(path)
    store.row_factory = sqlite3.Row
    document: Doc = Doc()
    fill(document, store)
    before = document.get_state()
    first_seconds, first = timed(document.get_update)
    change(document, store, changed)
    changes_seconds, changes = timed(lambda: document.get_update(before))
    (directory / "first").write_bytes(first)
    (directory / "changes").write_bytes(changes)
    return {"first": first_seconds, "changes": changes_seconds, "state": document.get_state().hex()}


def apply(document: Doc, update: bytes) -> float:
    """How long it takes to apply an update."""
    begin = time.perf_counter()
    document.apply_update(update)
    return time.perf_counter() - begin


def receive(directory: Path) -> dict[str, Any]:
    """Applies both updates; tells how many records there are then, and which changes the document has."""
    first = (directory / "first").read_bytes()
    changes = (directory / "changes").read_bytes()
    document: Doc = Doc()
    first_seconds = apply(document, first)
    changes_seconds = apply(document, changes)
    records = sum(len(document.get(table, type=Map)) for table in TABLES)
    state = document.get_state().hex()
    return {"first": first_seconds, "changes": changes_seconds, "records": records, "state": state}


def main(arguments: list[str]) -> int:
    match arguments:
        case ["send", store, changed, directory]:
            answer = send(store, changed, Path(directory))
        case ["receive", directory]:
            answer = receive(Path(directory))
        case _:
            print("usage: pycrdt_copy.py send STORE CHANGED DIRECTORY | receive DIRECTORY", file=sys.stderr)
            return 64
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
