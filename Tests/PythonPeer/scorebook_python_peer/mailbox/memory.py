"""What a machine remembers of a mailbox, in its store: durable, and in one transaction with what it speaks of.

Everything here is of one mailbox: a machine that uses two has logs of its own in each.
"""

import hashlib
import secrets
import sqlite3
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from ..names import ZoneID
from ..store import Store, Zone
from ..tokens import Token
from ..wire import Reader, Writer
from .section import HasRead

BUILDING, NAMED, OLD = "building", "named", "old"
"""A log that has no whole base yet; the one that the head names; one that it named before."""

TABLES = """
CREATE TABLE IF NOT EXISTS mailbox (
    number INTEGER PRIMARY KEY, folder TEXT NOT NULL UNIQUE, counter INTEGER NOT NULL DEFAULT 0, said BLOB,
    missing INTEGER NOT NULL DEFAULT 0, overtaken INTEGER NOT NULL DEFAULT 0, overtakenAt INTEGER NOT NULL DEFAULT 0,
    headHash BLOB);
CREATE TABLE IF NOT EXISTS mailboxLog (
    mailbox INTEGER NOT NULL, zone INTEGER NOT NULL, log BLOB PRIMARY KEY, zoneID BLOB NOT NULL, history BLOB NOT NULL,
    role TEXT NOT NULL, whole INTEGER NOT NULL, base INTEGER NOT NULL DEFAULT 0, position BLOB NOT NULL, count INTEGER NOT NULL DEFAULT 0,
    sum BLOB NOT NULL, retired INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS mailboxSegment (
    log BLOB NOT NULL, number INTEGER NOT NULL, token BLOB NOT NULL, size INTEGER NOT NULL,
    PRIMARY KEY (log, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS mailboxReader (
    log BLOB NOT NULL, peer BLOB NOT NULL, PRIMARY KEY (log, peer)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS mailboxLeftOut (
    log BLOB NOT NULL, peer BLOB NOT NULL, history BLOB NOT NULL, PRIMARY KEY (log, peer)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS mailboxGivenUp (
    mailbox INTEGER NOT NULL, zone INTEGER NOT NULL, history BLOB NOT NULL, PRIMARY KEY (mailbox, zone)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS mailboxHead (
    mailbox INTEGER NOT NULL, author BLOB NOT NULL, counter INTEGER NOT NULL, key BLOB NOT NULL, content BLOB NOT NULL,
    PRIMARY KEY (mailbox, author)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS mailboxRead (
    mailbox INTEGER NOT NULL, zone INTEGER NOT NULL, peer BLOB NOT NULL, history BLOB NOT NULL, log BLOB NOT NULL,
    segment INTEGER NOT NULL, PRIMARY KEY (mailbox, zone, peer)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS mailboxFile (
    mailbox INTEGER NOT NULL, zone INTEGER NOT NULL, hash BLOB NOT NULL, size INTEGER NOT NULL, epoch BLOB NOT NULL,
    isPut INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (mailbox, zone, hash)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS mailboxEpoch (
    number INTEGER PRIMARY KEY, mailbox INTEGER NOT NULL, zone INTEGER NOT NULL, epoch BLOB NOT NULL UNIQUE);
"""


@dataclass(frozen=True)
class Log:
    """A log of this machine, as far as it is written."""

    id: bytes
    zone_id: ZoneID
    """That of the zone when the log began: it stands in each segment."""
    history: bytes
    whole: bool
    base: int
    position: Token
    """What the log covers: the `covered` of a head that names it."""
    count: int
    sum: bytes
    segments: list[tuple[Token, int]]
    """Token and bytes of each."""
    retired: int | None
    """When a head first named another one, in milliseconds since 1970."""


@dataclass(frozen=True)
class OwnFile:
    hash: bytes
    size: int
    epoch: bytes
    is_put: bool


class Memory:
    """The tables of one mailbox."""

    def __init__(self, store: Store, folder: str) -> None:
        self._store = store
        self._db: sqlite3.Connection = store.database
        with store.transaction():
            for statement in TABLES.split(";"):
                self._db.execute(statement)
            self._db.execute("INSERT OR IGNORE INTO mailbox (folder) VALUES (?)", (folder,))
        self._number = self._db.execute("SELECT number FROM mailbox WHERE folder = ?", (folder,)).fetchone()[0]

    @property
    def number(self) -> int:
        """Which mailbox of the store it is."""
        return self._number

    def transaction(self) -> AbstractContextManager[None]:
        return self._store.transaction()

    # The own head

    def _get(self, column: str):
        return self._db.execute(f"SELECT {column} FROM mailbox WHERE number = ?", (self._number,)).fetchone()[0]

    def _set(self, column: str, value) -> None:
        with self.transaction():
            self._db.execute(f"UPDATE mailbox SET {column} = ? WHERE number = ?", (value, self._number))

    @property
    def counter(self) -> int:
        """The greatest counter that a head of this store may have had; 0 if it has put none."""
        return self._get("counter")

    def use_counter(self, counter: int) -> None:
        self._set("counter", counter)

    @property
    def said(self) -> bytes | None:
        """What the last head said, apart from what is no reason for another one."""
        return self._get("said")

    def note_said(self, said: bytes, head: bytes) -> None:
        with self.transaction():
            self._set("said", said)
            self._set("headHash", hashlib.sha256(head).digest())

    def has_put(self, head: bytes) -> bool:
        """Whether these are the bytes of the last head."""
        return self._get("headHash") in (None, hashlib.sha256(head).digest())

    @property
    def missing(self) -> int:
        """How many times in a row the own head was not there although others were."""
        return self._get("missing")

    def note_missing(self, times: int) -> None:
        self._set("missing", times)

    @property
    def overtaken(self) -> int:
        """The counter of a head that this store had not put, and went beyond; 0 if there was none."""
        return self._get("overtaken")

    @property
    def overtaken_at(self) -> int:
        """When that head was found, in milliseconds since 1970."""
        return self._get("overtakenAt")

    def note_overtaken(self, counter: int, time: int) -> None:
        with self.transaction():
            self._set("overtaken", counter)
            self._set("overtakenAt", time)

    def forget_all(self) -> None:
        """The user adds the mailbox anew."""
        with self.transaction():
            for table in ("mailboxSegment", "mailboxReader", "mailboxLeftOut"):
                query = f"DELETE FROM {table} WHERE log IN (SELECT log FROM mailboxLog WHERE mailbox = ?)"
                self._db.execute(query, (self._number,))
            for table in ("mailboxLog", "mailboxGivenUp", "mailboxHead", "mailboxRead", "mailboxFile", "mailboxEpoch"):
                self._db.execute(f"DELETE FROM {table} WHERE mailbox = ?", (self._number,))
            query = "UPDATE mailbox SET counter = 0, said = NULL, missing = 0, overtaken = 0 WHERE number = ?"
            self._db.execute(query, (self._number,))

    # Own logs

    def logs(self, zone: int, role: str) -> list[Log]:
        rows = self._db.execute(
            "SELECT log, zoneID, history, whole, base, position, count, sum, retired FROM mailboxLog"
            " WHERE mailbox = ? AND zone = ? AND role = ?",
            (self._number, zone, role),
        ).fetchall()
        return [
            Log(
                id, ZoneID.read(Reader(zone_id)), history, bool(whole), base, Token.decode(position), count, sum,
                self._segments(id), retired,
            )
            for id, zone_id, history, whole, base, position, count, sum, retired in rows
        ]  # fmt: skip

    def log(self, zone: int, role: str) -> Log | None:
        return next(iter(self.logs(zone, role)), None)

    def _segments(self, log: bytes) -> list[tuple[Token, int]]:
        rows = self._db.execute("SELECT token, size FROM mailboxSegment WHERE log = ? ORDER BY number", (log,))
        return [(Token.decode(token), size) for token, size in rows]

    def begin_log(self, zone: Zone, history: bytes, whole: bool, start: Token) -> None:
        """A log with nothing in it, in the place of one that was begun and is not whole."""
        with self.transaction():
            for begun in self.logs(zone.number, BUILDING):
                self.drop_log(begun.id)
            query = (
                "INSERT INTO mailboxLog (mailbox, zone, log, zoneID, history, role, whole, position, sum)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
            )
            id, zone_id = secrets.token_bytes(16), Writer()
            zone.id.write(zone_id)
            row = (
                self._number, zone.number, id, zone_id.data(), history, BUILDING, whole, start.encode(), bytes(32)
            )  # fmt: skip
            self._db.execute(query, row)

    def drop_log(self, log: bytes) -> None:
        with self.transaction():
            for table in ("mailboxLog", "mailboxSegment", "mailboxReader", "mailboxLeftOut"):
                self._db.execute(f"DELETE FROM {table} WHERE log = ?", (log,))

    def give_up_logs(self, zone: int) -> None:
        """Nobody may read the zone any more. What is remembered is the history, for whoever may again."""
        with self.transaction():
            for log in self.logs(zone, NAMED):
                row = (self._number, zone, log.history)
                self._db.execute("INSERT OR REPLACE INTO mailboxGivenUp VALUES (?, ?, ?)", row)
            for log in [log for role in (BUILDING, NAMED, OLD) for log in self.logs(zone, role)]:
                self.drop_log(log.id)

    def given_up(self, zone: int) -> bytes | None:
        """The history of the log that this machine gave up; none if it gave up none."""
        query = "SELECT history FROM mailboxGivenUp WHERE mailbox = ? AND zone = ?"
        row = self._db.execute(query, (self._number, zone)).fetchone()
        return row[0] if row else None

    def add_segment(self, log: bytes, number: int, token: Token, size: int) -> None:
        with self.transaction():
            row = (log, number, token.encode(), size)
            self._db.execute("INSERT OR REPLACE INTO mailboxSegment VALUES (?, ?, ?, ?)", row)
            self._db.execute("UPDATE mailboxLog SET position = ? WHERE log = ?", (token.encode(), log))

    def note_covered(self, log: bytes, token: Token, count: int, sum: bytes) -> None:
        query = "UPDATE mailboxLog SET position = ?, count = ?, sum = ? WHERE log = ?"
        with self.transaction():
            self._db.execute(query, (token.encode(), count, sum, log))

    def finish_base(self, zone: int, log: bytes, base: int, time: int) -> None:
        """The log is whole: from now on heads name it."""
        with self.transaction():
            query = "UPDATE mailboxLog SET role = ?, retired = ? WHERE mailbox = ? AND zone = ? AND role = ?"
            self._db.execute(query, (OLD, time, self._number, zone, NAMED))
            self._db.execute("UPDATE mailboxLog SET role = ?, base = ? WHERE log = ?", (NAMED, base, log))

    def readers(self, key: bytes) -> set[bytes]:
        """The peers that were given the key of a log or of a file epoch."""
        return {peer for (peer,) in self._db.execute("SELECT peer FROM mailboxReader WHERE log = ?", (key,))}

    def note_readers(self, key: bytes, readers: Iterable[bytes]) -> None:
        with self.transaction():
            rows = [(key, peer) for peer in readers]
            self._db.executemany("INSERT OR IGNORE INTO mailboxReader VALUES (?, ?)", rows)

    def left_out(self, log: bytes) -> dict[bytes, bytes]:
        """The peers whose records a log leaves out, each with the history in which it has them."""
        return dict(self._db.execute("SELECT peer, history FROM mailboxLeftOut WHERE log = ?", (log,)))

    def note_left_out(self, log: bytes, peer: bytes, history: bytes) -> None:
        with self.transaction():
            self._db.execute("INSERT OR IGNORE INTO mailboxLeftOut VALUES (?, ?, ?)", (log, peer, history))

    # Heads of others

    def heads(self) -> list[tuple[bytes, int, bytes, bytes]]:
        """Of each author its id, the counter of its head, its static key and the head."""
        query = "SELECT author, counter, key, content FROM mailboxHead WHERE mailbox = ?"
        return self._db.execute(query, (self._number,)).fetchall()

    def forget_head(self, author: bytes) -> None:
        """A later one says nothing to this machine. The counter stays: no older head can pass for the last one."""
        with self.transaction():
            query = "UPDATE mailboxHead SET content = X'' WHERE mailbox = ? AND author = ?"
            self._db.execute(query, (self._number, author))

    def keep_head(self, author: bytes, counter: int, key: bytes, content: bytes) -> None:
        with self.transaction():
            row = (self._number, author, counter, key, content)
            self._db.execute("INSERT OR REPLACE INTO mailboxHead VALUES (?, ?, ?, ?, ?)", row)

    # Reading

    def has_read(self, zone: int, peer: bytes) -> HasRead:
        query = "SELECT history, log, segment FROM mailboxRead WHERE mailbox = ? AND zone = ? AND peer = ?"
        row = self._db.execute(query, (self._number, zone, peer)).fetchone()
        return HasRead(0, *row) if row else HasRead(0)

    def note_read(self, zone: int, peer: bytes, history: bytes, log: bytes, segment: int) -> None:
        with self.transaction():
            row = (self._number, zone, peer, history, log, segment)
            self._db.execute("INSERT OR REPLACE INTO mailboxRead VALUES (?, ?, ?, ?, ?, ?)", row)

    # Files

    def files(self, zone: int) -> dict[bytes, OwnFile]:
        query = "SELECT hash, size, epoch, isPut FROM mailboxFile WHERE mailbox = ? AND zone = ? ORDER BY hash"
        rows = self._db.execute(query, (self._number, zone)).fetchall()
        return {hash: OwnFile(hash, size, epoch, bool(is_put)) for hash, size, epoch, is_put in rows}

    def keep_file(self, zone: int, file: OwnFile) -> None:
        with self.transaction():
            row = (self._number, zone, file.hash, file.size, file.epoch, file.is_put)
            self._db.execute("INSERT OR REPLACE INTO mailboxFile VALUES (?, ?, ?, ?, ?, ?)", row)

    def drop_file(self, zone: int, hash: bytes) -> None:
        with self.transaction():
            query = "DELETE FROM mailboxFile WHERE mailbox = ? AND zone = ? AND hash = ?"
            self._db.execute(query, (self._number, zone, hash))

    def epochs(self, zone: int) -> list[bytes]:
        """The file epochs, newest first."""
        query = "SELECT epoch FROM mailboxEpoch WHERE mailbox = ? AND zone = ? ORDER BY number DESC"
        return [epoch for (epoch,) in self._db.execute(query, (self._number, zone))]

    def begin_epoch(self, zone: int) -> None:
        with self.transaction():
            query = "INSERT INTO mailboxEpoch (mailbox, zone, epoch) VALUES (?, ?, ?)"
            self._db.execute(query, (self._number, zone, secrets.token_bytes(16)))

    def drop_epoch(self, epoch: bytes) -> None:
        with self.transaction():
            self._db.execute("DELETE FROM mailboxEpoch WHERE epoch = ?", (epoch,))
