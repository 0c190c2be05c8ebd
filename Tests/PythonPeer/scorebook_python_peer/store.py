"""A small durable store: one SQLite file and a folder of files (protocol.md 7.2, 7.4, 7.5 say what it must know).

Several processes may use one store at a time; SQLite keeps them apart.
"""

import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from .batch import Batch, Record
from .errors import ErrorCode, PeerError, SessionError
from .household import Entry, Gets, Household, Introduction, Removal
from .merge import merge
from .messages import Right
from .names import ZoneID
from .noise import KeyPair
from .records import (
    FIELDS_LIMIT,
    Item,
    Stamp,
    State,
    Write,
    ZoneSum,
    item_of,
    next_time,
    record_id,
    replica_id,
)
from .tokens import NO_GENERATION, START, Token
from .values import Value, asset_of, referenced_name

DEFAULT_ZONE = "ScorebookData"
GENERATIONS_KEPT = 1000
BATCH_RECORDS, BATCH_BYTES = 5_000, 1 << 20
BATCH_RECORDS_LIMIT, BATCH_BYTES_LIMIT = 10_000, 6 << 20
READ_ONLY, OTHER_ZONE, TOO_LARGE = 1, 2, 3
"""The reasons of protocol.md 7.12 for refusing a record."""

TABLES = """
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS zone (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, owner BLOB NOT NULL, title TEXT NOT NULL,
    isDefault INTEGER NOT NULL DEFAULT 0, isShared INTEGER NOT NULL DEFAULT 0,
    forgotten INTEGER NOT NULL DEFAULT 0, UNIQUE (name, owner));
CREATE TABLE IF NOT EXISTS generation (id INTEGER PRIMARY KEY, firstNumber INTEGER NOT NULL, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS record (
    name TEXT PRIMARY KEY, zone INTEGER NOT NULL REFERENCES zone (number), number INTEGER NOT NULL UNIQUE,
    changeGroup INTEGER NOT NULL, state BLOB NOT NULL,
    liveId BLOB, milliseconds INTEGER, id BLOB, isTooLarge INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS recordTooLarge ON record (zone) WHERE isTooLarge;
CREATE INDEX IF NOT EXISTS recordByNumber ON record (zone, number);
CREATE TABLE IF NOT EXISTS origin (record TEXT NOT NULL, peer BLOB NOT NULL, PRIMARY KEY (record, peer)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS asset (
    record TEXT NOT NULL, field TEXT NOT NULL, hash BLOB NOT NULL, size INTEGER NOT NULL,
    PRIMARY KEY (record, field)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS assetByHash ON asset (hash);
CREATE TABLE IF NOT EXISTS peer (key BLOB PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS introduction (
    id BLOB PRIMARY KEY, nonce BLOB NOT NULL, key BLOB NOT NULL, name TEXT NOT NULL, rights INTEGER NOT NULL,
    introducer BLOB NOT NULL, time INTEGER NOT NULL, remover BLOB, removed INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS introductionDue (key BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS forgotten (key BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS link (
    peer BLOB NOT NULL, zone INTEGER NOT NULL REFERENCES zone (number), rights INTEGER,
    received BLOB, acknowledged INTEGER NOT NULL DEFAULT 0, compared INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (peer, zone)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS refused (
    peer BLOB NOT NULL, record TEXT NOT NULL, reason INTEGER NOT NULL, PRIMARY KEY (peer, record)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS refusedInMailbox (
    mailbox INTEGER NOT NULL, peer BLOB NOT NULL, zone INTEGER NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (mailbox, peer, zone, record)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ownRefusal (
    peer BLOB NOT NULL, zone INTEGER NOT NULL, record TEXT NOT NULL, reason INTEGER NOT NULL,
    PRIMARY KEY (peer, zone, record)) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Zone:
    """A zone of the store; `number` is the store's own, not that of a session."""

    number: int
    id: ZoneID
    title: str
    is_default: bool
    is_shared: bool


def wall_clock() -> int:
    """The wall clock in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def random_generation() -> bytes:
    return secrets.token_bytes(8)


@dataclass(frozen=True)
class Applied:
    """What became of a batch."""

    changed: int
    refused: dict[int, list[str]]


class Store:
    """The records, peers and tokens of one machine."""

    def __init__(
        self, directory: Path, identity: KeyPair | None = None, clock: Callable[[], int] = wall_clock,
        draw: Callable[[], bytes] = random_generation,
    ) -> None:  # fmt: skip
        """`draw` gives a generation (protocol.md 7.2)."""
        self.now = clock
        self._draw = draw
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._directory = directory
        self.assets_directory = directory / "assets"
        self.assets_directory.mkdir(mode=0o700, exist_ok=True)
        path = directory / "store.sqlite"
        os.close(os.open(path, os.O_CREAT, 0o600))
        self._db = sqlite3.connect(path, timeout=60, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._run_generation: bytes | None = None  # drawn when this run numbers its first change
        self._sums: dict[int, tuple[tuple[int, int], ZoneSum]] = {}
        with self.transaction():
            for statement in TABLES.split(";"):
                self._db.execute(statement)
            if self._setting("identity") is None:
                self._set("identity", (identity or KeyPair.generate()).secret)
        self.identity = KeyPair(self._setting("identity") or b"")
        self.replica = replica_id(self.identity.public)
        with self.transaction():
            if not self.zones():
                self._add_zone(ZoneID(DEFAULT_ZONE, self.replica), DEFAULT_ZONE, is_default=True)

    def close(self) -> None:
        self._db.close()

    @property
    def database(self) -> sqlite3.Connection:
        """The connection, for whoever keeps tables of its own beside those of the store."""
        return self._db

    @property
    def version(self) -> tuple[int, int]:
        """Changes whenever records do, or anything that another program or connection writes."""
        return self.last_number, self._db.execute("PRAGMA data_version").fetchone()[0]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One step, whole or not at all. The outermost one counts."""
        if self._db.in_transaction:
            yield
            return
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            self._sums.clear()
            raise
        self._db.execute("COMMIT")

    # Settings

    def _setting(self, name: str) -> bytes | None:
        row = self._db.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def _set(self, name: str, value: bytes) -> None:
        self._db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (name, value))

    def _number_setting(self, name: str) -> int:
        return int.from_bytes(self._setting(name) or b"", "big")

    def _set_number(self, name: str, number: int) -> None:
        self._set(name, number.to_bytes(8, "big"))

    # Zones and rights

    def zones(self) -> list[Zone]:
        rows = self._db.execute("SELECT number, name, owner, title, isDefault, isShared FROM zone ORDER BY number")
        return [
            Zone(number, ZoneID(name, int.from_bytes(owner, "big")), title, bool(is_default), bool(is_shared))
            for number, name, owner, title, is_default, is_shared in rows
        ]

    def zone(self, zone_id: ZoneID) -> Zone | None:
        return next((zone for zone in self.zones() if zone.id == zone_id), None)

    @property
    def default_zone(self) -> Zone:
        return next(zone for zone in self.zones() if zone.is_default)

    def add_zone(self, zone_id: ZoneID, title: str, peer: bytes | None = None) -> None:
        """Makes a zone; one that is taken up from a peer lets this peer write, and nobody else anything (7.12)."""
        with self.transaction():
            number = self._add_zone(zone_id, title, is_default=False)
            if peer is not None:
                self.grant(peer, number, Right.WRITE)

    def _add_zone(self, zone_id: ZoneID, title: str, is_default: bool) -> int:
        owner = zone_id.owner.to_bytes(8, "big")
        return (
            self._db.execute(
                "INSERT INTO zone (name, owner, title, isDefault) VALUES (?, ?, ?, ?)",
                (zone_id.name, owner, title, is_default),
            ).lastrowid
            or 0
        )

    def rename_default_zone(self, zone_id: ZoneID) -> None:
        """The default zone gets another id, when it has become one with that of a peer (protocol.md 7.12)."""
        with self.transaction():
            owner = zone_id.owner.to_bytes(8, "big")
            self._db.execute("UPDATE zone SET name = ?, owner = ? WHERE isDefault", (zone_id.name, owner))

    def replace_default_zone(self, zone_id: ZoneID) -> None:
        """Makes a backup, and gives up everything in the default zone for a zone of a peer (protocol.md 7.9, 7.12).

        All tokens that were given out are void from now on, because they cover records that are gone.
        """
        self._back_up()
        with self.transaction():
            zone = self.default_zone.number
            for table in ("origin", "asset", "refused"):
                self._db.execute(
                    f"DELETE FROM {table} WHERE record IN (SELECT name FROM record WHERE zone = ?)", (zone,)
                )
            self._db.execute("DELETE FROM record WHERE zone = ?", (zone,))
            self._db.execute("UPDATE link SET received = NULL, acknowledged = 0 WHERE zone = ?", (zone,))
            self._db.execute("DELETE FROM ownRefusal WHERE zone = ?", (zone,))
            self._db.execute("UPDATE zone SET forgotten = 0 WHERE number = ?", (zone,))
            self._make_tokens_void()
            self.rename_default_zone(zone_id)

    def _back_up(self) -> None:
        with sqlite3.connect(self._directory / f"backup-{self.now()}.sqlite") as backup:
            sqlite3.connect(self._directory / "store.sqlite").backup(backup)

    def _make_tokens_void(self) -> None:
        """No token that was given out before is one of this store's any more, not even one of this run."""
        self._db.execute("DELETE FROM generation")
        self._db.execute("INSERT INTO generation (firstNumber, value) VALUES (?, ?)", (self.last_number, self._draw()))
        self._sums.clear()

    def start_over(self, peer: bytes, zones: dict[int, Token | None]) -> None:
        """Makes a backup, and forgets what a peer has (protocol.md 7.9), in zones in which it gives that back.

        `zones` has the tokens that the peer holds of this store, as its open names them.
        """
        self._back_up()
        with self.transaction():
            for zone, held in zones.items():
                self._forget_what_a_peer_has(peer, zone, held)
                self.set_received_token(peer, zone, START)
            self._make_tokens_void()

    def _forget_what_a_peer_has(self, peer: bytes, zone: int, held: Token | None) -> None:
        acknowledged = self.acknowledged(peer, zone)
        covered = held.sequence if held is not None and self.gave_out(held) else acknowledged
        was_set_back = covered < acknowledged
        rows = self._db.execute("SELECT name, number FROM record WHERE zone = ?", (zone,)).fetchall()
        refused = {name for (name,) in self._db.execute("SELECT record FROM refused")}
        kept = {
            name for name, number in rows
            if name in refused or (number > covered and (was_set_back or not self._came_from(name, peer)))
        }  # fmt: skip
        waiting = list(kept)
        while waiting:
            state = self.state(waiting.pop())
            for write in state.fields.values() if state else ():
                target = referenced_name(write.value)
                if target is not None and target not in kept:
                    kept.add(target)
                    waiting.append(target)
        for name in (name for name, _ in rows if name not in kept):
            for table in ("origin", "asset", "refused"):
                self._db.execute(f"DELETE FROM {table} WHERE record = ?", (name,))
            self._db.execute("DELETE FROM record WHERE name = ?", (name,))

    def mark_shared(self, zone: int) -> None:
        with self.transaction():
            self._db.execute("UPDATE zone SET isShared = 1 WHERE number = ? AND NOT isShared", (zone,))

    def rights(self, peer: bytes, zone: Zone) -> Right:
        """What a peer may do here. Undecided is write in the default zone, and nothing in others (7.12)."""
        row = self._link(peer, zone.number)
        if row is not None and row[0] is not None:
            return Right(row[0])
        return Right.WRITE if zone.is_default else Right.NOTHING

    def grant(self, peer: bytes, zone: int, rights: Right) -> None:
        with self.transaction():
            self._make_link(peer, zone)
            self._db.execute("UPDATE link SET rights = ? WHERE peer = ? AND zone = ?", (rights, peer, zone))

    def grant_only(self, peer: bytes, zone: int) -> None:
        """Lets a peer write in one zone, and have nothing else."""
        with self.transaction():
            for other in self.zones():
                self.grant(peer, other.number, Right.WRITE if other.number == zone else Right.NOTHING)

    def _link(self, peer: bytes, zone: int) -> tuple | None:
        query = "SELECT rights, received, acknowledged, compared FROM link WHERE peer = ? AND zone = ?"
        return self._db.execute(query, (peer, zone)).fetchone()

    def _make_link(self, peer: bytes, zone: int) -> None:
        self._db.execute("INSERT OR IGNORE INTO link (peer, zone) VALUES (?, ?)", (peer, zone))

    # Peers

    def peers(self) -> dict[bytes, str]:
        return dict(self._db.execute("SELECT key, name FROM peer"))

    def peer_name(self, key: bytes) -> str | None:
        row = self._db.execute("SELECT name FROM peer WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def add_peer(self, key: bytes, name: str) -> None:
        """A key that is stored already stays as it is, name included (protocol.md 4.4)."""
        with self.transaction():
            self._db.execute("INSERT OR IGNORE INTO peer VALUES (?, ?)", (key, name))
            self._db.execute("DELETE FROM forgotten WHERE key = ?", (key,))

    def forget_peer(self, key: bytes, is_removed: bool = False) -> None:
        """Ends a pairing. What is known of the peer's tokens and records is kept (protocol.md 7.9).

        Unless it was removed from the household, no introduction makes the machine a peer here again (7.13).
        """
        with self.transaction():
            for table in ("peer", "introductionDue"):
                self._db.execute(f"DELETE FROM {table} WHERE key = ?", (key,))
            if not is_removed:
                self._db.execute("INSERT OR IGNORE INTO forgotten VALUES (?)", (key,))
            self._db.execute("UPDATE link SET rights = NULL WHERE peer = ?", (key,))
            for table in ("refused", "refusedInMailbox", "ownRefusal"):
                self._db.execute(f"DELETE FROM {table} WHERE peer = ?", (key,))

    # The household (protocol.md 7.13)

    @property
    def household(self) -> Household:
        rows = self._db.execute(
            "SELECT nonce, key, name, rights, introducer, time, remover, removed FROM introduction"
        ).fetchall()
        return Household([
            Entry(
                Introduction(nonce, key, name, Gets(rights), introducer, time),
                None if remover is None else Removal(remover, removed),
            )
            for nonce, key, name, rights, introducer, time, remover, removed in rows
        ])  # fmt: skip

    def _save_household(self, household: Household) -> None:
        self._db.execute("DELETE FROM introduction")
        for id, entry in household.entries.items():
            told, removal = entry.introduction, entry.removal
            parts = (told.nonce, told.key, told.name, int(told.rights), told.introducer, told.time)
            end = (None, None) if removal is None else (removal.remover, removal.time)
            self._db.execute("INSERT INTO introduction VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (id, *parts, *end))

    def introduce(self, key: bytes, name: str) -> None:
        """Introduces a machine with which this one was paired."""
        told = Introduction.of(key, name, Gets.ALL, self.identity.public, self.now())
        with self.transaction():
            self._save_household(self.household.union(Household([Entry(told)])))

    def note_introduction_due(self, key: bytes) -> None:
        """This machine has typed the code of another one."""
        self._db.execute("INSERT OR IGNORE INTO introductionDue VALUES (?)", (key,))

    def introduce_if_due(self, key: bytes, shares_default: bool) -> None:
        """Introduces the machine whose code this one has typed, once, unless it shares only other zones (protocol.md 4.4)."""
        if self._db.execute("SELECT 1 FROM introductionDue WHERE key = ?", (key,)).fetchone() is None:
            return
        name = self.peer_name(key)
        with self.transaction():
            self._db.execute("DELETE FROM introductionDue WHERE key = ?", (key,))
            if name is not None and shares_default and self.rights(key, self.default_zone) == Right.WRITE:
                self.introduce(key, name)

    def remove_everywhere(self, key: bytes) -> None:
        with self.transaction():
            removal = Removal(self.identity.public, self.now())
            self._save_household(self.household.with_removal(key, removal))
        self.forget_peer(key, is_removed=True)

    def hears(self, key: bytes) -> bool:
        """Whether this side takes the household of a peer."""
        return self.tells(key) and self.rights(key, self.default_zone) == Right.WRITE

    def tells(self, key: bytes) -> bool:
        """Whether this side shares its household with a peer."""
        may_read = self.rights(key, self.default_zone) != Right.NOTHING
        return may_read and self.peer_name(key) is not None and key in self.household.members

    def take_household(self, theirs: Household) -> None:
        """Merges the set of a machine that is heard, and does what follows."""
        with self.transaction():
            former = self.household
            merged = former.union(theirs)
            if merged == former:
                return
            self._save_household(merged)
            for key in merged.removed - former.removed:
                if self.peer_name(key) is not None:
                    self.forget_peer(key, is_removed=True)
            for key, told in merged.members.items():
                if key == self.identity.public or self._is_forgotten(key) or self.peer_name(key) is not None:
                    continue
                self.add_peer(key, told.name)
                if told.rights == Gets.READ:
                    self.grant(key, self.default_zone.number, Right.READ)

    def _is_forgotten(self, key: bytes) -> bool:
        """Whether the user here has ended the pairing, and has not paired with that machine again."""
        return self._db.execute("SELECT 1 FROM forgotten WHERE key = ?", (key,)).fetchone() is not None

    def refusal(self, key: bytes) -> SessionError:
        """The error for a machine that is no peer (protocol.md 4.1)."""
        if key in self.household.removed and not self._is_forgotten(key):
            return SessionError(ErrorCode.REMOVED, "the machine was removed from the household")
        return SessionError(ErrorCode.NOT_PAIRED, "the two machines are not paired")

    # Tokens (protocol.md 7.2)

    @property
    def last_number(self) -> int:
        return self._number_setting("lastNumber")

    def _generation(self, number: int) -> bytes:
        """The generation that covers a number."""
        row = self._db.execute(
            "SELECT value FROM generation WHERE firstNumber <= ? ORDER BY firstNumber DESC, id DESC LIMIT 1", (number,)
        ).fetchone()
        return row[0] if row else NO_GENERATION

    @property
    def generations(self) -> list[tuple[bytes, int]]:
        """The generations of this store's tokens that it keeps, each with its first number, ascending."""
        return self._db.execute("SELECT value, firstNumber FROM generation ORDER BY firstNumber, id").fetchall()

    def token_at(self, number: int) -> Token:
        return Token(self._generation(number), number) if number else START

    @property
    def current_token(self) -> Token:
        return self.token_at(self.last_number)

    def gave_out(self, token: Token) -> bool:
        """Whether this store gave the token out in the history that it now holds."""
        if token.sequence == 0:
            return True
        return token.sequence <= self.last_number and token.generation == self._generation(token.sequence)

    def received_token(self, peer: bytes, zone: int) -> Token | None:
        row = self._link(peer, zone)
        return Token.decode(row[1]) if row and row[1] is not None else None

    def set_received_token(self, peer: bytes, zone: int, token: Token | None) -> None:
        with self.transaction():
            self._make_link(peer, zone)
            content = token.encode() if token else None
            self._db.execute("UPDATE link SET received = ? WHERE peer = ? AND zone = ?", (content, peer, zone))
            if token in (None, START):
                self._db.execute("UPDATE link SET compared = 0 WHERE peer = ? AND zone = ?", (peer, zone))
                self.forget_own_refusals(peer, zone)

    def compared(self, peer: bytes, zone: int) -> int:
        """The number of the peer's changes up to which a comparison may have kept deletions from this store (mailbox.md 6.2)."""
        row = self._link(peer, zone)
        return row[3] if row else 0

    def note_compared(self, peer: bytes, zone: int, sequence: int) -> None:
        with self.transaction():
            self._make_link(peer, zone)
            query = "UPDATE link SET compared = MAX(compared, ?) WHERE peer = ? AND zone = ?"
            self._db.execute(query, (sequence, peer, zone))

    def note_read(self, peer: bytes, zone: int, sequence: int) -> None:
        """All of the peer's changes up to a number were read, deletions among them."""
        with self.transaction():
            query = "UPDATE link SET compared = 0 WHERE peer = ? AND zone = ? AND compared <= ?"
            self._db.execute(query, (peer, zone, sequence))

    def acknowledged(self, peer: bytes, zone: int) -> int:
        row = self._link(peer, zone)
        return row[2] if row else 0

    def forgotten(self, zone: int) -> int:
        """The greatest number of a record that this store has forgotten (protocol.md 7.9); it never does so itself."""
        return self._db.execute("SELECT forgotten FROM zone WHERE number = ?", (zone,)).fetchone()[0]

    def acknowledge(self, peer: bytes, zone: int, number: int) -> None:
        """Notes that the peer has this store's changes up to a number. Another connection may have been faster."""
        with self.transaction():
            self.set_acknowledged(peer, zone, max(number, self.acknowledged(peer, zone)))

    def set_acknowledged(self, peer: bytes, zone: int, number: int) -> None:
        """Notes up to which number the peer has this store's changes, also if that is less: it was set back."""
        with self.transaction():
            self._make_link(peer, zone)
            self._db.execute("UPDATE link SET acknowledged = ? WHERE peer = ? AND zone = ?", (number, peer, zone))

    def _next_number(self) -> int:
        number = self.last_number + 1
        self._set_number("lastNumber", number)
        if self._run_generation is None:
            self._run_generation = self._draw()
        query = "SELECT value FROM generation ORDER BY id DESC LIMIT 1"
        if self._db.execute(query).fetchone() != (self._run_generation,):
            self._db.execute(
                "INSERT INTO generation (firstNumber, value) VALUES (?, ?)", (number, self._run_generation)
            )
            self._db.execute(
                "DELETE FROM generation WHERE id NOT IN (SELECT id FROM generation ORDER BY id DESC LIMIT ?)",
                (GENERATIONS_KEPT,),
            )
        return number

    # Records

    def state(self, name: str) -> State | None:
        row = self._db.execute("SELECT state FROM record WHERE name = ?", (name,)).fetchone()
        return State.decode(row[0]) if row else None

    def states(self, zone: int | None = None) -> Iterator[Record]:
        query = "SELECT name, state FROM record WHERE ? IS NULL OR zone = ? ORDER BY name"
        for name, state in self._db.execute(query, (zone, zone)):
            yield name, State.decode(state)

    def sum(self, zone: int) -> ZoneSum:
        """Count and sum of a zone (protocol.md 8.2); kept until the next change."""
        version = self.version
        known = self._sums.get(zone)
        if known is None or known[0] != version:
            ids = self._db.execute("SELECT liveId FROM record WHERE zone = ? AND liveId IS NOT NULL", (zone,))
            known = self._sums[zone] = (version, ZoneSum.over(row[0] for row in ids))
        return known[1]

    def items(self, zone: int) -> dict[Item, str]:
        """The items of protocol.md 7.10, with the names of their records."""
        rows = self._db.execute("SELECT milliseconds, id, name FROM record WHERE zone = ? AND id IS NOT NULL", (zone,))
        return {Item(milliseconds, record): name for milliseconds, record, name in rows}

    def records_by_id(self, names: dict[bytes, str]) -> list[Record]:
        """The records with these ids, as they are now; without those that have another id by now."""
        found = []
        for record, name in names.items():
            row = self._db.execute("SELECT state FROM record WHERE name = ? AND id = ?", (name, record)).fetchone()
            if row:
                found.append((name, State.decode(row[0])))
        return found

    def check(self, zone: int) -> int:
        """Looks at every record, mends what is derived from its state, and says how many were wrong (7.7)."""
        mended = 0
        with self.transaction():
            rows = self._db.execute(
                "SELECT name, state, liveId, milliseconds, id, isTooLarge FROM record WHERE zone = ?", (zone,)
            )
            for name, state, *kept in rows.fetchall():
                derived = _derived(name, State.decode(state))
                if tuple(kept) != derived:
                    mended += 1
                    query = "UPDATE record SET liveId = ?, milliseconds = ?, id = ?, isTooLarge = ? WHERE name = ?"
                    self._db.execute(query, (*derived, name))
            self._sums.pop(zone, None)
        return mended

    def _save(self, name: str, zone: int, state: State, number: int, group: int) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO record (name, zone, number, changeGroup, state, liveId, milliseconds, id, isTooLarge)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (name, zone, number, group, state.encode(), *_derived(name, state)),
        )
        self._db.execute("DELETE FROM origin WHERE record = ?", (name,))
        self._db.execute("DELETE FROM refused WHERE record = ? AND reason = ?", (name, TOO_LARGE))
        self._db.execute("DELETE FROM asset WHERE record = ?", (name,))
        if state.is_live:
            for field, write in state.fields.items():
                asset = asset_of(write.value)
                if asset:
                    row = (name, field, asset.hash, asset.size)
                    self._db.execute("INSERT INTO asset (record, field, hash, size) VALUES (?, ?, ?, ?)", row)
        self._raise_clock(state.newest_stamp.time)

    def _raise_clock(self, time: int) -> None:
        if time > self._number_setting("clock"):
            self._set_number("clock", time)

    # Making a store what a vector says that it is

    def restore_zone(self, zone: int, is_shared: bool, forgotten: int) -> None:
        query = "UPDATE zone SET isShared = ?, forgotten = ? WHERE number = ?"
        self._db.execute(query, (is_shared, forgotten, zone))

    def restore_record(self, name: str, zone: int, state: State, number: int, group: int, origin: bytes | None) -> None:
        self._save(name, zone, state, number, group)
        if origin is not None:
            self._db.execute("INSERT INTO origin VALUES (?, ?)", (name, origin))

    def restore_numbers(self, last: int, greatest_time: int, generations: list[tuple[int, bytes]]) -> None:
        self._set_number("lastNumber", last)
        self._set_number("clock", greatest_time)
        self._db.executemany("INSERT INTO generation (firstNumber, value) VALUES (?, ?)", generations)

    def group(self, name: str) -> int:
        return self._db.execute("SELECT changeGroup FROM record WHERE name = ?", (name,)).fetchone()[0]

    @property
    def greatest_time(self) -> int:
        """The greatest time that was issued or seen (protocol.md 6.2)."""
        return self._number_setting("clock")

    # Local writes (protocol.md 6.2, 9.1)

    def _new_stamp(self) -> Stamp:
        stamp = Stamp(next_time(self._number_setting("clock"), self.now()), self.replica)
        self._raise_clock(stamp.time)
        return stamp

    def put(self, name: str, values: dict[str, Value], zone: Zone | None = None) -> None:
        """A local write: the fields written get a new stamp."""
        with self.transaction():
            stamp = self._new_stamp()
            old = self.state(name) or State()
            fields = old.fields | {field: Write(value, stamp) for field, value in values.items()}
            if len(fields) > FIELDS_LIMIT:
                raise PeerError(f"{name} would have more than {FIELDS_LIMIT} fields")
            number = self._next_number()
            home = self._zone_of(name) or (zone.number if zone else self._zone_by_references(values))
            self._save(name, home, replace(old, fields=fields), number, number)

    def merge_local(self, records: list[Record]) -> None:
        """Takes in states under the stamps that they carry, as an import does, in one step."""
        with self.transaction():
            group = self.last_number + 1
            for name, incoming in records:
                old = self.state(name) or State()
                merged = merge(old, incoming)
                if merged != old:
                    home = self._zone_of(name) or self.default_zone.number
                    self._save(name, home, merged, self._next_number(), group)

    def delete(self, name: str) -> None:
        """A local deletion: it raises the deletion and removes nothing from the state."""
        with self.transaction():
            old = self.state(name)
            zone = self._zone_of(name)
            if old is None or zone is None or old.is_deleted:
                raise PeerError(f"there is no record {name}")
            number = self._next_number()
            self._save(name, zone, replace(old, deletion=self._new_stamp()), number, number)

    def restore(self, name: str) -> None:
        """Brings back a record that was deleted here or elsewhere: it raises the revival."""
        with self.transaction():
            old = self.state(name)
            zone = self._zone_of(name)
            if old is None or zone is None or not old.is_deleted or old.is_erased:
                raise PeerError(f"{name} cannot be restored")
            number = self._next_number()
            self._save(name, zone, replace(old, revival=self._new_stamp()), number, number)

    def erase(self, name: str) -> None:
        """A local deletion for ever. What goes with the record is not known here, without a schema."""
        with self.transaction():
            old = self.state(name)
            zone = self._zone_of(name)
            if old is None or zone is None:
                raise PeerError(f"there is no record {name}")
            stamp = self._new_stamp()
            number = self._next_number()
            state = replace(old, deletion=stamp, erasure=stamp).without_erased_fields()
            self._save(name, zone, state, number, number)

    def _zone_of(self, name: str) -> int | None:
        row = self._db.execute("SELECT zone FROM record WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def _zone_by_references(self, values: dict[str, Value]) -> int:
        """The zone of the first record that is referred to; without a schema, first by the names of the fields."""
        for _, value in sorted(values.items()):
            target = referenced_name(value)
            zone = self._zone_of(target) if target else None
            if zone is not None:
                return zone
        return self.default_zone.number

    # Sending (protocol.md 7.4)

    def read_batch(self, zone: int, position: Token, left_out: Set[bytes] = frozenset()) -> Batch:
        """What comes after a position, without the states that came from one of some peers."""
        marks = ", ".join("?" * len(left_out))
        query = (
            "SELECT name, number, changeGroup, state FROM record WHERE zone = ? AND number > ?"
            f" AND NOT EXISTS (SELECT 1 FROM origin WHERE record = name AND peer IN ({marks})) ORDER BY number"
        )
        arguments = (zone, position.sequence, *left_out)
        with self.snapshot():
            current = self.current_token
            records: list[Record] = []
            cut = None
            end_of_group = size = 0
            numbers: list[int] = []
            group = None
            for name, number, record_group, content in self._db.execute(query, arguments):
                state = State.decode(content).as_sent()
                if group is not None and record_group != group:
                    end_of_group = len(records)
                    if len(records) >= BATCH_RECORDS or size >= BATCH_BYTES:
                        cut = end_of_group
                        break
                if len(records) >= BATCH_RECORDS_LIMIT or size >= BATCH_BYTES_LIMIT:
                    cut = end_of_group or len(records)
                    break
                group = record_group
                if state.is_too_large:
                    continue
                size += state.size
                records.append((name, state))
                numbers.append(number)
            if cut is None:
                return Batch(_with_horizon(current, position), True, False, records)
            token = self.token_at(numbers[cut - 1])
            return Batch(_with_horizon(token, position), False, False, records[:cut])

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Several reads of one moment."""
        if self._db.in_transaction:
            yield
            return
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("COMMIT")

    # Applying (protocol.md 7.5)

    def apply(self, peer: bytes, zone: Zone, batch: Batch) -> Applied:
        """Merges a batch in one transaction, and keeps its token unless it is loose."""
        changed = 0
        refused: dict[int, list[str]] = {}
        with self.transaction():
            may_write = self.rights(peer, zone) == Right.WRITE
            acknowledged = self.acknowledged(peer, zone.number)
            group = self.last_number + 1
            for name, incoming in batch.records:
                home = self._zone_of(name)
                if not may_write:
                    refused.setdefault(READ_ONLY, []).append(name)
                elif home is not None and home != zone.number:
                    refused.setdefault(OTHER_ZONE, []).append(name)
                elif incoming.is_too_large or not self._may_be_kept(name, incoming):
                    refused.setdefault(TOO_LARGE, []).append(name)
                else:
                    changed += self._take(peer, zone.number, name, incoming, batch.loose, acknowledged, group)
            if may_write:
                self._note_own_refusals(peer, zone.number, batch, refused)
            held = self.received_token(peer, zone.number)
            is_late = held and held.generation == batch.token.generation and held.sequence > batch.token.sequence
            if batch.loose and batch.token != held:
                self.note_compared(peer, zone.number, batch.token.sequence)
            elif not batch.loose and not is_late:
                self.set_received_token(peer, zone.number, batch.token)
        return Applied(changed, refused)

    def _take(
        self, peer: bytes, zone: int, name: str, incoming: State, loose: bool, acknowledged: int, group: int
    ) -> bool:
        """Merges one state; whether that changed anything."""
        row = self._db.execute("SELECT number, state FROM record WHERE name = ?", (name,)).fetchone()
        old = State.decode(row[1]) if row else State()
        merged = merge(old, incoming)
        is_same = merged.as_sent() == incoming.as_sent()
        if merged != old:
            self._save(name, zone, merged, self._next_number(), group)
        elif not is_same and (loose or row[0] <= acknowledged or self._came_from(name, peer)):
            # Answering who is behind: the record gets a new number, without a change, and is sent.
            query = "UPDATE record SET number = ?, changeGroup = ? WHERE name = ?"
            self._db.execute(query, (self._next_number(), group, name))
            self._db.execute("DELETE FROM origin WHERE record = ? AND peer = ?", (name, peer))
        if is_same:
            self._db.execute("INSERT OR IGNORE INTO origin VALUES (?, ?)", (name, peer))
            self._db.execute("DELETE FROM refused WHERE peer = ? AND record = ?", (peer, name))
        return merged != old

    def _may_be_kept(self, name: str, incoming: State) -> bool:
        """Whether a record does not become too large by a state (protocol.md 7.12)."""
        old = self.state(name) or State()
        merged = merge(old, incoming)
        return merged == old or merged.may_be_kept

    def _came_from(self, name: str, peer: bytes) -> bool:
        query = "SELECT 1 FROM origin WHERE record = ? AND peer = ?"
        return self._db.execute(query, (name, peer)).fetchone() is not None

    # Refused records (protocol.md 7.12)

    def note_refused(self, peer: bytes, reason: int, names: list[str], sequence: int) -> None:
        """Notes what a peer has refused that was sent the changes up to a number.

        A record that was too large and has changed since is on its way.
        """
        with self.transaction():
            for name in names:
                row = self._db.execute("SELECT number FROM record WHERE name = ?", (name,)).fetchone()
                if row is not None and (reason != TOO_LARGE or row[0] <= sequence):
                    self._db.execute("INSERT OR REPLACE INTO refused VALUES (?, ?, ?)", (peer, name, reason))
                    self._db.execute("DELETE FROM refusedInMailbox WHERE peer = ? AND record = ?", (peer, name))

    def take_refused(
        self, mailbox: int, peer: bytes, zone: int, records: list[tuple[str, int]], sequence: int
    ) -> list[str]:
        """Takes what a peer says in a mailbox that it has refused (mailbox.md 6.5); gives what is new of it.

        `sequence` is the number of this store up to which the peer had read.
        """
        new = []
        with self.transaction():
            query = "SELECT record FROM refusedInMailbox WHERE mailbox = ? AND peer = ? AND zone = ?"
            named = {name for name, _ in records}
            for (name,) in self._db.execute(query, (mailbox, peer, zone)).fetchall():
                if name not in named:
                    self._db.execute("DELETE FROM refused WHERE peer = ? AND record = ?", (peer, name))
                    self._db.execute("DELETE FROM refusedInMailbox WHERE peer = ? AND record = ?", (peer, name))
            for name, reason in records:
                row = self._db.execute("SELECT number FROM record WHERE name = ? AND zone = ?", (name, zone)).fetchone()
                known = self.refused(peer, zone).get(name)
                is_on_its_way = reason == TOO_LARGE and row is not None and row[0] > sequence
                if reason not in (OTHER_ZONE, TOO_LARGE) or row is None or known == READ_ONLY:
                    continue
                if known is None and is_on_its_way:
                    continue
                if known is None:
                    new.append(name)
                self._db.execute("INSERT OR REPLACE INTO refused VALUES (?, ?, ?)", (peer, name, reason))
                query = "SELECT 1 FROM refusedInMailbox WHERE peer = ? AND zone = ? AND record = ?"
                if known is None or self._db.execute(query, (peer, zone, name)).fetchone() is None:
                    entry = (mailbox, peer, zone, name)
                    self._db.execute("INSERT OR REPLACE INTO refusedInMailbox VALUES (?, ?, ?, ?)", entry)
        return new

    def _note_own_refusals(self, peer: bytes, zone: int, batch: Batch, refused: dict[int, list[str]]) -> None:
        """What this store refuses of a peer, for mailboxes; what it takes, it refuses no more."""
        query = "DELETE FROM ownRefusal WHERE peer = ? AND zone = ? AND record = ?"
        self._db.executemany(query, [(peer, zone, name) for name, _ in batch.records])
        deleted = {name for name, state in batch.records if state.is_deleted}
        rows = [
            (peer, zone, name, reason) for reason, names in refused.items() for name in names
            if reason == TOO_LARGE or name not in deleted
        ]  # fmt: skip
        self._db.executemany("INSERT OR REPLACE INTO ownRefusal VALUES (?, ?, ?, ?)", rows)

    def own_refusals(self, peer: bytes, zone: int) -> list[tuple[str, int]]:
        """What this store has refused of a peer's records, by name, each with the reason."""
        query = "SELECT record, reason FROM ownRefusal WHERE peer = ? AND zone = ? ORDER BY record"
        return [
            (name, reason) for name, reason in self._db.execute(query, (peer, zone)).fetchall()
            if reason != OTHER_ZONE or self._zone_of(name) != zone
        ]  # fmt: skip

    def forget_own_refusals(self, peer: bytes, zone: int) -> None:
        with self.transaction():
            self._db.execute("DELETE FROM ownRefusal WHERE peer = ? AND zone = ?", (peer, zone))

    def refused(self, peer: bytes, zone: int) -> dict[str, int]:
        """The records that a peer has refused, each with the reason."""
        query = "SELECT record, reason FROM refused JOIN record ON name = record WHERE peer = ? AND zone = ?"
        return dict(self._db.execute(query, (peer, zone)))

    def refused_count(self, peer: bytes, zone: int) -> int:
        """What the peer does not have as this side has it: what it has refused, and what is too large (7.6)."""
        query = "SELECT count(*) FROM refused JOIN record ON name = record WHERE peer = ? AND zone = ?"
        too_large = "SELECT count(*) FROM record WHERE zone = ? AND isTooLarge"
        return self._db.execute(f"SELECT ({query}) + ({too_large})", (peer, zone, zone)).fetchone()[0]

    def send_refused_again(self, peer: bytes, zone: int) -> None:
        """The peer lets this machine write now: what it refused for that reason is sent again."""
        with self.transaction():
            rows = self._db.execute(
                "SELECT name FROM refused JOIN record ON name = record WHERE peer = ? AND zone = ? AND reason = ?",
                (peer, zone, READ_ONLY),
            ).fetchall()
            group = self.last_number + 1
            for (name,) in rows:
                query = "UPDATE record SET number = ?, changeGroup = ? WHERE name = ?"
                self._db.execute(query, (self._next_number(), group, name))
                self._db.execute("DELETE FROM origin WHERE record = ? AND peer = ?", (name, peer))
                self._db.execute("DELETE FROM refused WHERE peer = ? AND record = ?", (peer, name))

    # What records say of files (protocol.md 7.11)

    def assets(self, zones: list[int]) -> dict[bytes, int]:
        """Hash and size of every file that a live record in one of these zones refers to."""
        marks = ", ".join("?" * len(zones))
        query = f"SELECT hash, max(size) FROM asset JOIN record ON name = record WHERE zone IN ({marks}) GROUP BY hash"
        return dict(self._db.execute(query, zones))

    def own_files(self, zone: int) -> dict[bytes, tuple[int, int]]:
        """Of the files of live records of a zone that came from no peer: size, and the greatest number of such a record."""
        query = (
            "SELECT hash, max(size), max(number) FROM asset JOIN record ON name = record WHERE zone = ?"
            " AND NOT EXISTS (SELECT 1 FROM origin WHERE origin.record = name) GROUP BY hash"
        )
        return {hash: (size, number) for hash, size, number in self._db.execute(query, (zone,))}

    def last_reference(self, hash: bytes, zone: int) -> int:
        """The greatest number of a live record of a zone that refers to a file; 0 if none does."""
        query = "SELECT max(number) FROM asset JOIN record ON name = record WHERE zone = ? AND hash = ?"
        return self._db.execute(query, (zone, hash)).fetchone()[0] or 0

    def first_from(self, peers: Collection[bytes], zone: int, after: int) -> int | None:
        """The number of the first record, of those whose number comes after one, that has a state which came from one of some peers."""
        places = ", ".join("?" * len(peers))
        query = f"SELECT MIN(number) FROM record JOIN origin ON record = name WHERE zone = ? AND number > ? AND peer IN ({places})"
        return self._db.execute(query, (zone, after, *peers)).fetchone()[0]

    def has_from(self, peer: bytes, zone: int, after: int) -> bool:
        """Whether a record whose number comes after one has a state that came from a peer."""
        query = "SELECT 1 FROM record JOIN origin ON record = name WHERE zone = ? AND number > ? AND peer = ? LIMIT 1"
        return self._db.execute(query, (zone, after, peer)).fetchone() is not None

    def note_loss(self, peer: bytes, zone: int) -> None:
        """A peer may have lost what logs of this machine, in any mailbox, leave out as its records (mailbox.md 5.3).

        No history is the one of this note, so each such log gets a successor.
        """
        if self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'mailboxLeftOut'").fetchone() is None:
            return  # the store never had a mailbox
        with self.transaction():
            query = "SELECT log, position FROM mailboxLog WHERE zone = ? AND role = 'named'"
            for log, position in self._db.execute(query, (zone,)).fetchall():
                query = "SELECT 1 FROM mailboxLeftOut WHERE log = ? AND peer = ?"
                leaves_out = self._db.execute(query, (log, peer)).fetchone() is not None
                if leaves_out or self.has_from(peer, zone, Token.decode(position).sequence):
                    self._db.execute("INSERT OR REPLACE INTO mailboxLeftOut VALUES (?, ?, ?)", (log, peer, bytes(16)))

    def refers_to(self, hash: bytes, zones: list[int]) -> bool:
        marks = ", ".join("?" * len(zones))
        query = f"SELECT 1 FROM asset JOIN record ON name = record WHERE hash = ? AND zone IN ({marks})"
        return self._db.execute(query, (hash, *zones)).fetchone() is not None


def _derived(name: str, state: State) -> tuple[bytes | None, int | None, bytes | None, int]:
    """What is kept beside a state: its id in the digest if it is live, its item, and whether it is too large to travel."""
    item = item_of(name, state)
    live_id = record_id(name, state) if state.is_live else None
    return live_id, item and item.milliseconds, item and item.id, int(state.is_too_large)


def _with_horizon(token: Token, position: Token) -> Token:
    """Tokens of batches take the horizon of the position, as long as it is greater than their sequence (7.4)."""
    return token._replace(horizon=position.horizon if position.horizon > token.sequence else 0)
