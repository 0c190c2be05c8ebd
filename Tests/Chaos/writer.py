"""One user of a machine: writes with SQL, past the program, and notes each write after its commit.

    writer.py DATABASE LOG MACHINE SEED RATE

Does what the lines of its input say: `go N` writes, as epoch N; `rest` closes the database; the end of the input ends it. Each line is
answered with one, which says how many writes there were.
"""

import random
import select
import sqlite3
import sys
import time
import uuid
from typing import TextIO

from writes import FIELDS, Write

FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY)
"""The first eight bits of SQLite's codes that a full disk or a busy program leads to. Nothing was committed then."""


class Writer:
    def __init__(self, database: str, log: TextIO, machine: str, seed: int) -> None:
        self._path = database
        self._log = log
        self._machine = machine
        self._chance = random.Random(f"{seed} {machine}")
        self._database: sqlite3.Connection | None = None
        self.epoch = 0
        self.number = 0

    def rest(self) -> None:
        if self._database:
            self._database.close()
        self._database = None

    def write(self) -> None:
        try:
            self._commit()
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in FULL:
                raise
            self.rest()
            # Python's own sleep fails when the clock is set meanwhile.
            select.select([], [], [], 0.05)

    def _commit(self) -> None:
        if self._database is None:
            self._database = sqlite3.connect(self._path, timeout=30, isolation_level=None)
            self._database.execute("PRAGMA synchronous = FULL")
            self._database.execute("PRAGMA foreign_keys = ON")
        database = self._database
        begin = time.monotonic()
        database.execute("BEGIN IMMEDIATE")
        try:
            # A number is not used again, whatever becomes of the transaction.
            self.number += 1
            record, fields, seen = self._change(database)
            database.execute("COMMIT")
        except sqlite3.Error:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
        write = Write(self._machine, self.number, self.epoch, record, fields, seen, begin, time.monotonic())
        self._log.write(write.line() + "\n")
        self._log.flush()

    def _change(self, database: sqlite3.Connection) -> tuple[str, tuple[str, ...], dict[str, str | None]]:
        table = self._chance.choice(list(FIELDS))
        columns = FIELDS[table]
        value, kind = f"{self._machine}-{self.number}", self._chance.random()
        chosen = None
        if kind >= 0.15:
            # Few records, so that users meet.
            chosen = database.execute(
                f"SELECT recordName, {', '.join(columns)} FROM {table} ORDER BY recordName LIMIT 1 OFFSET ?",
                [self._chance.randrange(40)],
            ).fetchone()
        if chosen is None:
            record = f"{table}|~|{uuid.UUID(int=self._chance.getrandbits(128), version=4)}"
            database.execute(
                f"INSERT INTO {table} (recordName, {', '.join(columns)}) VALUES (?{', ?' * len(columns)})",
                [record, *[value] * len(columns)],
            )
            return record, columns, {}
        record, seen = chosen[0], dict(zip(columns, chosen[1:]))
        if kind < 0.27:
            database.execute(f"DELETE FROM {table} WHERE recordName = ?", [record])
            return record, (), seen
        fields = tuple(self._chance.sample(columns, self._chance.randint(1, len(columns))))
        assignments = ", ".join(f"{field} = ?" for field in fields)
        database.execute(
            f"UPDATE {table} SET {assignments} WHERE recordName = ?", [*[value] * len(fields), record]
        )
        return record, fields, seen


def main() -> None:
    database, log, machine, seed, rate = sys.argv[1:]
    with open(log, "a", encoding="utf-8") as file:
        writer, is_writing = Writer(database, file, machine, int(seed)), False
        while True:
            pause = random.expovariate(float(rate)) if is_writing else None
            if select.select([sys.stdin], [], [], pause)[0]:
                order = sys.stdin.readline().split()
                if not order:
                    return
                is_writing = order[0] == "go"
                if is_writing:
                    writer.epoch = int(order[1])
                else:
                    writer.rest()
                print(writer.number, flush=True)
            else:
                writer.write()


if __name__ == "__main__":
    main()
