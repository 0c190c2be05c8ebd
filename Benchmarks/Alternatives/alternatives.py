#!/usr/bin/env python3
"""What a user would take instead of scorebook-peer, measured on the records of a scorebook. See README.md."""

from __future__ import annotations

import argparse
import json
import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any, NoReturn, Protocol
from urllib.parse import quote

HERE = Path(__file__).resolve().parent
TABLES = ("SBPerson", "SBGame", "SBMatch", "SBPlayer", "SBScore", "SBMatchLocation", "SBMatchImage")
FEW_CHANGES = 100
FEW_VALUE = 1001
MANY_VALUE = 1002
DEADLINE = 900.0
"""Seconds after which something that has not happened is taken for broken."""

EX_USAGE, EX_DATAERR, EX_NOINPUT, EX_UNAVAILABLE = 64, 65, 66, 69


class BadStore(Exception):
    """The store cannot be measured."""


class LeftOut(Exception):
    """An alternative cannot be measured; the text says why, and what to install if something is missing."""


# MARK: Data


@dataclass(frozen=True)
class Data:
    """The seven tables of a store, and the same after changes; all of them closed SQLite files."""

    directory: Path
    base: Path
    """The store's rows, with the tables' indexes."""
    empty: Path
    changed: Path
    """The base with the few changes."""
    records: int
    few: list[str]
    """Names of the players that are changed."""
    many: list[str]

    @property
    def bytes(self) -> int:
        return self.base.stat().st_size


def select_schema(kind: str) -> str:
    """A query for the statements that make the seven tables or, of kind `index`, their indexes."""
    marks = ", ".join(f"'{table}'" for table in TABLES)
    return (
        f"SELECT name, sql FROM sqlite_master WHERE type = '{kind}' AND tbl_name IN ({marks}) AND sql IS NOT NULL "
        "ORDER BY rowid"
    )


def prepare(store: Path, directory: Path) -> Data:
    """Takes the seven tables out of the store, which is only read."""
    base, empty, changed = (directory / f"{name}.sqlite" for name in ("base", "empty", "changed"))
    try:
        with closing(sqlite3.connect(store_address(store), uri=True)) as source:
            source.execute("PRAGMA query_only = 1")
            source.execute("BEGIN")
            schema = {kind: source.execute(select_schema(kind)).fetchall() for kind in ("table", "index")}
            missing = sorted(set(TABLES) - {name for name, _ in schema["table"]})
            if missing:
                raise BadStore(f"{store} is not a scorebook: it has no table {missing[0]}")
            make_store(empty, schema)
            copy_rows(source, base, schema)
    except sqlite3.Error as error:
        raise BadStore(f"{store} cannot be read as a scorebook: {error}") from error
    with closing(sqlite3.connect(base)) as database:
        records = sum(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES)
        players = [row[0] for row in database.execute("SELECT recordName FROM SBPlayer ORDER BY recordName")]
    if len(players) < FEW_CHANGES:
        raise BadStore(f"{store} has {len(players)} players, too few to change {FEW_CHANGES} of them")
    few = spread(players, FEW_CHANGES)
    shutil.copyfile(base, changed)
    with closing(sqlite3.connect(changed)) as database, database:
        database.execute(update_statement(few, FEW_VALUE))
    return Data(directory, base, empty, changed, records, few, spread(players, max(1, min(10_000, records // 10))))


def store_address(store: Path) -> str:
    """How the store is opened, so that no file remains beside it."""
    path = store.resolve()
    wal = path.with_name(path.name + "-wal")
    is_at_rest = not wal.exists() or wal.stat().st_size == 0
    # A connection that may only read leaves the files of the WAL behind, and needs to write them.
    mode = "immutable=1" if is_at_rest and not os.access(path.parent, os.W_OK) else "mode=rw"
    return f"file:{quote(str(path))}?{mode}"


def make_store(path: Path, schema: dict[str, list[tuple[str, str]]]) -> None:
    with closing(sqlite3.connect(path)) as database:
        for _, sql in schema["table"] + schema["index"]:
            database.execute(sql)


def copy_rows(source: sqlite3.Connection, path: Path, schema: dict[str, list[tuple[str, str]]]) -> None:
    """Writes the rows of the source into a new store, in their order."""
    with closing(sqlite3.connect(path)) as database, database:
        for _, sql in schema["table"]:
            database.execute(sql)
        for table in TABLES:
            rows = source.execute(f"SELECT * FROM {table}")
            columns = ", ".join(f'"{column[0]}"' for column in rows.description)
            marks = ", ".join("?" for _ in rows.description)
            database.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)
        for _, sql in schema["index"]:
            database.execute(sql)


def spread(names: Sequence[str], count: int) -> list[str]:
    """As many of the names, at equal distances; all of them if they are fewer."""
    count = min(count, len(names))
    return [names[number * len(names) // count] for number in range(count)]


def update_statement(names: Iterable[str], value: int) -> str:
    """SQL for SQLite and PostgreSQL that changes one column of these players."""
    quoted = ", ".join("'" + name.replace("'", "''") + "'" for name in names)
    return f'UPDATE "SBPlayer" SET "seatOrder" = {value} WHERE "recordName" IN ({quoted})'


def expect_equal(store: Path, other: Path) -> None:
    """Makes sure that a copy has the same rows.

    Raises LeftOut when it has not."""
    with closing(sqlite3.connect(store)) as database:
        database.execute("ATTACH ? AS other", (str(other),))
        for table in TABLES:
            for one, two in (("main", "other"), ("other", "main")):
                query = f"SELECT count(*) FROM (SELECT * FROM {one}.{table} EXCEPT SELECT * FROM {two}.{table})"
                if database.execute(query).fetchone()[0]:
                    raise LeftOut(f"the copy of {table} differs from the original")


# MARK: Processes


def program(name: str, package: str) -> str:
    """Where a program lies.

    Raises LeftOut, with the package to install, when it is not there."""
    path = shutil.which(name)
    if path is None:
        raise LeftOut(f"there is no program {name}; install {package}")
    return path


@contextmanager
def running(
    arguments: Sequence[str], ending: signal.Signals = signal.SIGTERM, **options: Any
) -> Iterator[subprocess.Popen[Any]]:
    """A process with a group of its own, which is ended, with its children, if it has not ended by itself."""
    process = subprocess.Popen(arguments, start_new_session=True, **options)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, ending)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def output(arguments: Sequence[str], **options: Any) -> str:
    """What a program writes on stdout.

    Raises LeftOut with the complaint on stderr when it fails."""
    options |= {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with running(arguments, **options) as process:
        text, complaint = process.communicate(timeout=DEADLINE)
    expect_success(process, arguments[0], complaint)
    return str(text)


def expect_success(process: subprocess.Popen[Any], name: str, complaint: str) -> None:
    if process.returncode != 0:
        raise LeftOut(f"{Path(name).name} ended with {process.returncode}: {complaint_in(complaint)}")


def complaint_in(text: str) -> str:
    """The first line that speaks of an error, or else the last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = (line for line in lines if re.search("error|fatal", line, re.IGNORECASE))
    return next(errors, lines[-1] if lines else "it does not say why")


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def wait_until(condition: Callable[[], bool], pause: float, what: str) -> None:
    """Asks again and again, `pause` seconds apart.

    Raises LeftOut after the deadline."""
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise LeftOut(f"{what} did not happen within {DEADLINE:.0f} s")
        time.sleep(pause)


@dataclass(frozen=True)
class Ran:
    """A process that has ended: seconds from its start to its end, and its peak memory in KiB where known."""

    seconds: float
    peak: int | None
    output: str


@dataclass(frozen=True)
class Runner:
    """Runs processes that are measured."""

    launcher: Path | None
    """The program made of peak.c; without it, peaks are not known."""
    directory: Path

    @classmethod
    def make(cls, directory: Path) -> Runner:
        try:
            return cls(compile_program("peak", directory, "libc6-dev"), directory)
        except LeftOut as problem:
            print(f"peak memory is not measured: {problem}", file=sys.stderr)
            return cls(None, directory)

    def run(self, arguments: Sequence[str], feeder: Sequence[str] | None = None, **options: Any) -> Ran:
        """Runs a program, with what the feeder, if any, writes as its input."""
        report = self.directory / "peak.kib"
        report.unlink(missing_ok=True)
        started = [str(self.launcher), str(report), *arguments] if self.launcher else list(arguments)
        options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        os.sync()
        with ExitStack() as stack:
            begin = time.perf_counter()
            sources = [stack.enter_context(running(feeder, stdout=subprocess.PIPE))] if feeder else []
            stdin = sources[0].stdout if sources else subprocess.DEVNULL
            process = stack.enter_context(running(started, stdin=stdin, **options))
            for source in sources:
                if source.stdout:
                    # Or the feeder would not notice the end of what it feeds.
                    source.stdout.close()
            text, complaint = process.communicate(timeout=DEADLINE)
            for source in sources:
                source.wait(DEADLINE)
            seconds = time.perf_counter() - begin
        expect_success(process, arguments[0], complaint)
        for source in sources:
            expect_success(source, "what feeds it", "")
        return Ran(seconds, int(report.read_text()) if self.launcher else None, text)


def compile_program(name: str, directory: Path, needs: str, libraries: Sequence[str] = ()) -> Path:
    """The program of one of the C files beside this script.

    Raises LeftOut, with what it needs besides a compiler, when it cannot be made."""
    target = directory / name
    compiler = program("cc", "gcc")
    try:
        output([compiler, "-O2", "-std=c11", "-o", str(target), str(HERE / f"{name}.c"), *libraries])
    except LeftOut:
        raise LeftOut(f"{name}.c does not compile here; install {needs}") from None
    return target


# MARK: Alternatives


@dataclass(frozen=True)
class Round:
    """What one round of an alternative found: seconds, bytes, KiB; None for what cannot be known or done."""

    first_seconds: float
    changes_seconds: float | None
    bytes_first: int | None
    bytes_changes: int | None
    store_bytes: int | None
    peak: int | None
    many_seconds: float | None = None


class Alternative(Protocol):
    """One of the programs. Making it raises LeftOut when something is missing."""

    title: str
    lacks: str
    version: str

    def measure(self, number: int) -> Round: ...


class PlainCopy:
    """All rows as SQL text, from one sqlite3 shell into another."""

    title = "plain copy"
    lacks = "copies everything each time, one way, over what was written there; no network, no encryption"

    def __init__(self, data: Data, runner: Runner) -> None:
        self.data, self.runner = data, runner
        self.shell = program("sqlite3", "sqlite3")
        self.version = "sqlite3 " + output([self.shell, "--version"]).split()[0]
        self.bytes = self._dumped_bytes()

    def _dump(self) -> list[str]:
        with closing(sqlite3.connect(self.data.base)) as database:
            names = [name for kind in ("table", "index") for name, _ in database.execute(select_schema(kind))]
        patterns = " ".join("'" + re.sub(r"([%_\\])", r"\\\1", name) + "'" for name in names)
        return [self.shell, "-batch", "-init", os.devnull, str(self.data.base), f".dump {patterns}"]

    def _dumped_bytes(self) -> int:
        text = self.data.directory / "dump.sql"
        with text.open("wb") as file, running(self._dump(), stdout=file) as process:
            process.wait(DEADLINE)
        size = text.stat().st_size
        text.unlink()
        return size

    def measure(self, number: int) -> Round:
        with fresh_directory(self.data.directory / "plain") as directory:
            target = directory / "copy.sqlite"
            settings = ["-cmd", "PRAGMA journal_mode = WAL", "-cmd", "PRAGMA synchronous = NORMAL"]
            ran = self.runner.run(
                [self.shell, "-batch", "-bail", "-init", os.devnull, *settings, str(target)], feeder=self._dump()
            )
            expect_equal(self.data.base, target)
            return Round(ran.seconds, None, self.bytes, None, target.stat().st_size, ran.peak)


class Rsync:
    """The file of the seven tables, from a daemon on loopback."""

    title = "rsync"
    lacks = "one way, the file as a whole: what was written there is lost; nobody may write meanwhile; no encryption"

    def __init__(self, data: Data, runner: Runner) -> None:
        self.data, self.runner = data, runner
        self.rsync = program("rsync", "rsync")
        self.version = " ".join(output([self.rsync, "--version"]).split()[:3:2])

    def measure(self, number: int) -> Round:
        with fresh_directory(self.data.directory / "rsync") as directory:
            served, received = directory / "served", directory / "received"
            served.mkdir()
            received.mkdir()
            with self._daemon(directory, served) as fetch:
                shutil.copyfile(self.data.base, served / "scorebook.sqlite")
                first = fetch(received)
                expect_equal(self.data.base, received / "scorebook.sqlite")
                size = (received / "scorebook.sqlite").stat().st_size
                shutil.copyfile(self.data.changed, served / "scorebook.sqlite")
                changes = fetch(received)
                expect_equal(self.data.changed, received / "scorebook.sqlite")
        return Round(first.seconds, changes.seconds, moved(first), moved(changes), size, first.peak)

    @contextmanager
    def _daemon(self, directory: Path, served: Path) -> Iterator[Callable[[Path], Ran]]:
        """Serves a directory, and gives what fetches its file."""
        port, password = free_port(), secrets.token_hex(16)
        configuration, secret = directory / "rsyncd.conf", directory / "secret"
        secret.touch(mode=0o600)
        secret.write_text(f"scorebook:{password}\n")
        # An ordinary user is refused a change of groups, even to the own one; root without this would become nobody.
        identity = "uid = 0\ngid = 0\n" if os.geteuid() == 0 else ""
        configuration.write_text(
            f"use chroot = no\n{identity}[scorebook]\npath = {served}\nauth users = scorebook\nsecrets file = {secret}\n"
        )
        daemon = [
            self.rsync, "--daemon", "--no-detach", "--address=127.0.0.1", f"--port={port}", f"--config={configuration}",
            f"--log-file={directory / 'log'}",
        ]  # fmt: skip
        # Without the option it takes files of equal size for equal if they were written in the same second.
        fetch = [self.rsync, "--ignore-times", "--stats", f"rsync://scorebook@127.0.0.1:{port}/scorebook/scorebook.sqlite"]
        environment = os.environ | {"RSYNC_PASSWORD": password, "LC_ALL": "C"}
        with running(daemon, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            wait_until(lambda: process.poll() is not None or answers(port), 0.02, "the start of the rsync daemon")
            if process.poll() is not None:
                raise LeftOut("the rsync daemon did not start")
            yield lambda target: self.runner.run([*fetch, f"{target}/"], env=environment)


def answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1):
            return True
    except OSError:
        return False


def moved(ran: Ran) -> int | None:
    """The bytes that rsync sent and received, by its own count."""
    found = re.findall(r"^Total bytes (?:sent|received): ([\d,.]+)$", ran.output, re.MULTILINE)
    return sum(int(re.sub(r"\D", "", text)) for text in found) if len(found) == 2 else None


class Session:
    """SQLite's session extension: a changeset, applied in one transaction."""

    title = "SQLite session"
    lacks = "no transport, no encryption; only writes of connections that record; a conflict is the caller's to settle"

    def __init__(self, data: Data, runner: Runner) -> None:
        self.data, self.runner = data, runner
        needs = "libsqlite3-dev, built with the session extension"
        self.tool = str(compile_program("session-apply", data.directory, needs, ["-lsqlite3"]))
        self.version = "SQLite " + output([self.tool, "version"]).strip()
        self.first = self._changeset(data.empty, data.base, "first")
        self.changes = self._changeset(data.base, data.changed, "changes")

    def _changeset(self, old: Path, new: Path, name: str) -> Path:
        target = self.data.directory / f"{name}.changeset"
        output([self.tool, "diff", str(old), str(new), str(target)])
        return target

    def measure(self, number: int) -> Round:
        with fresh_directory(self.data.directory / "session") as directory:
            target = directory / "copy.sqlite"
            shutil.copyfile(self.data.empty, target)
            first = self.runner.run([self.tool, "apply", str(target), str(self.first)])
            expect_equal(self.data.base, target)
            size = target.stat().st_size
            changes = self.runner.run([self.tool, "apply", str(target), str(self.changes)])
            expect_equal(self.data.changed, target)
        bytes_first, bytes_changes = self.first.stat().st_size, self.changes.stat().st_size
        return Round(float(first.output), float(changes.output), bytes_first, bytes_changes, size, first.peak)


class Pycrdt:
    """A CRDT document in memory: the whole is encoded by one process and applied by another."""

    title = "pycrdt"
    lacks = "in memory: no persistence, no SQL, no references between records; no transport, no encryption"

    def __init__(self, data: Data, runner: Runner, python: str | None, venv: Path) -> None:
        self.data, self.runner = data, runner
        self.python = python or make_venv(venv)
        try:
            asked = "import pycrdt, importlib.metadata as data; print('pycrdt', data.version('pycrdt'))"
            self.version = output([self.python, "-c", asked]).strip()
        except (LeftOut, OSError) as problem:
            raise LeftOut(f"{self.python} cannot use pycrdt; install it with: pip install -r requirements.txt") from problem

    def _run(self, *arguments: str) -> tuple[dict[str, Any], int | None]:
        ran = self.runner.run([self.python, str(HERE / "pycrdt_copy.py"), *arguments])
        return json.loads(ran.output), ran.peak

    def measure(self, number: int) -> Round:
        with fresh_directory(self.data.directory / "pycrdt") as directory:
            sent, _ = self._run("send", str(self.data.base), str(self.data.changed), str(directory))
            received, peak = self._run("receive", str(directory))
            if received["records"] != self.data.records or received["state"] != sent["state"]:
                raise LeftOut("the copy differs from the original")
            first, changes = ((directory / name).stat().st_size for name in ("first", "changes"))
        return Round(sent["first"] + received["first"], sent["changes"] + received["changes"], first, changes, None, peak)


def make_venv(directory: Path) -> str:
    """The interpreter of a virtual environment with pycrdt, made unless it is there."""
    python = directory / "bin" / "python"
    try:
        if not python.exists():
            output([sys.executable, "-m", "venv", str(directory)])
        output([str(python), "-m", "pip", "install", "--quiet", "--retries", "1", "-r", str(HERE / "requirements.txt")])
    except LeftOut as problem:
        raise LeftOut(f"{problem}; give an interpreter that has pycrdt with --python") from problem
    return str(python)


@contextmanager
def fresh_directory(path: Path) -> Iterator[Path]:
    """An empty directory, removed afterwards."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


# MARK: PostgreSQL


@dataclass(frozen=True)
class Account:
    """Who runs PostgreSQL, which refuses to run as root."""

    name: str
    uid: int
    gid: int

    @classmethod
    def find(cls) -> Account:
        if os.geteuid() != 0:
            return cls(pwd.getpwuid(os.geteuid()).pw_name, os.geteuid(), os.getegid())
        try:
            entry = pwd.getpwnam("postgres")
        except KeyError:
            raise LeftOut("there is no user postgres to run it as; install postgresql, or run as an ordinary user") from None
        return cls(entry.pw_name, entry.pw_uid, entry.pw_gid)

    @property
    def options(self) -> dict[str, Any]:
        """What starts a process as this user, without the settings of the one who started the script."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        options: dict[str, Any] = {"env": environment | {"LC_ALL": "C"}}
        if os.geteuid() == 0:
            options |= {"user": self.uid, "group": self.gid, "extra_groups": []}
        return options

    def give(self, path: Path) -> None:
        if os.geteuid() == 0:
            os.chown(path, self.uid, self.gid)


def postgres_program(name: str) -> str:
    """Where a program of the newest PostgreSQL lies.

    Raises LeftOut when there is none."""
    versions = Path("/usr/lib/postgresql").glob(f"*/bin/{name}")
    newest = max(versions, key=lambda path: tuple(map(int, re.findall(r"\d+", path.parts[-3]))), default=None)
    return str(newest) if newest else program(name, "postgresql")


class Psql:
    """A connection that stays, by a psql process."""

    def __init__(self, requests: IO[str], answers: IO[str]) -> None:
        self.requests, self.answers = requests, answers

    def run(self, sql: str, lines: Iterable[str] = ()) -> list[str]:
        """The rows of the answer; the lines, if any, are those of a COPY FROM STDIN.

        Raises LeftOut with the server's complaint."""
        marker = "done " + secrets.token_hex(8)
        with suppress(BrokenPipeError):
            self.requests.write(f"{sql};\n")
            self.requests.writelines(lines)
            self.requests.write(f"\\echo {marker}\n")
            self.requests.flush()
        answer: list[str] = []
        for line in self.answers:
            if line.rstrip("\n") == marker:
                return answer
            answer.append(line.rstrip("\n"))
        raise LeftOut(f"PostgreSQL: {answer[0] if answer else 'the connection broke'}")

    def number(self, sql: str) -> int:
        return int(self.run(sql)[0])


class Cluster:
    """A PostgreSQL server of its own, below one directory."""

    def __init__(self, account: Account, directory: Path, settings: dict[str, str]) -> None:
        self.account, self.settings = account, settings
        self.password = secrets.token_hex(16)
        self.port = 0
        self.data, self.sockets, self.log = directory / "data", directory / "s", directory / "log"
        for path in (directory, self.sockets):
            path.mkdir(mode=0o700)
            account.give(path)
        if len(os.fsencode(self.sockets)) > 80:
            raise LeftOut("the path of the work directory is too long for a unix socket; give a shorter one with --work")
        secret = directory / "secret"
        secret.touch(mode=0o600)
        secret.write_text(self.password + "\n")
        account.give(secret)
        self.options = account.options | {"cwd": directory}
        initdb = [
            postgres_program("initdb"), "-D", str(self.data), "-U", account.name, "-E", "UTF8", "--locale=C", "--no-sync",
            "--auth-local=peer", "--auth-host=scram-sha-256", f"--pwfile={secret}",
        ]  # fmt: skip
        output(initdb, **self.options)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Starts the server, and stops it in any case."""
        self.port = free_port()
        arguments = [postgres_program("postgres"), "-D", str(self.data), "-k", str(self.sockets), "-p", str(self.port)]
        for name, value in self.settings.items():
            arguments += ["-c", f"{name}={value}"]
        with self.log.open("wb") as log:
            options = self.options | {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            with running(arguments, ending=signal.SIGINT, **options) as process:
                wait_until(lambda: process.poll() is not None or self._is_ready(), 0.05, "the start of PostgreSQL")
                if process.poll() is not None:
                    raise LeftOut(f"PostgreSQL did not start: {complaint_in(self.log.read_text(errors='replace'))}")
                yield

    def _is_ready(self) -> bool:
        try:
            with self.connection("postgres") as psql:
                return psql.number("SELECT 1") == 1
        except LeftOut:
            return False

    @contextmanager
    def connection(self, database: str) -> Iterator[Psql]:
        """A connection over the unix socket."""
        arguments = [
            postgres_program("psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1",
            "-h", str(self.sockets), "-p", str(self.port), "-d", database,
        ]  # fmt: skip
        settings = f"-c client_min_messages=error -c statement_timeout={DEADLINE:.0f}s"
        options = self.options | {"env": self.options["env"] | {"PGOPTIONS": settings}, "text": True}
        options |= {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with running(arguments, **options) as process:
            stdin, stdout = process.stdin, process.stdout
            assert stdin and stdout
            yield Psql(stdin, stdout)
            with suppress(BrokenPipeError):
                stdin.close()
            process.wait(60)

    def address(self, database: str, port: int) -> str:
        """How a subscriber reaches a database, over loopback."""
        return f"host=127.0.0.1 port={port} dbname={database} user={self.account.name} password={self.password}"


class Postgres:
    """Logical replication from one cluster to another over loopback."""

    title = "PostgreSQL logical replication"
    lacks = (
        "one way; no merge: a conflict stops it or the publisher wins; a server on each machine; no encryption as set up here"
    )
    common_settings = {"max_worker_processes": "16", "max_logical_replication_workers": "10"}

    def __init__(self, data: Data, runner: Runner, directory: Path) -> None:
        self.data = data
        for name in ("initdb", "postgres", "psql"):
            postgres_program(name)
        account = Account.find()
        self.version = "PostgreSQL " + output([postgres_program("postgres"), "--version"]).split()[2]
        directory.mkdir()
        account.give(directory)
        expect_access(account, directory)
        self.publisher = Cluster(
            account, directory / "p", self.common_settings | {"wal_level": "logical", "listen_addresses": "127.0.0.1"}
        )
        self.subscriber = Cluster(
            account,
            directory / "s",
            # By default only two tables are copied at a time.
            self.common_settings | {"listen_addresses": "", "max_sync_workers_per_subscription": str(len(TABLES))},
        )
        with self.publisher.running(), self.subscriber.running():
            self._make_templates()
            self.bytes_first, self.bytes_changes = self._count_bytes()

    def measure(self, number: int) -> Round:
        with self.publisher.running(), self.subscriber.running():
            found = self._measure(f"round{number}", self.publisher.port)
        return replace(found, bytes_first=self.bytes_first, bytes_changes=self.bytes_changes)

    def _make_templates(self) -> None:
        """A database on either side, from which those of each round are made: the publisher's has the rows."""
        with closing(sqlite3.connect(self.data.base)) as store:
            definitions = [definition for table in TABLES for definition in table_definitions(store, table)]
            for cluster in (self.publisher, self.subscriber):
                create_database(cluster, "scorebook", "template0")
                with cluster.connection("scorebook") as psql:
                    for definition in definitions:
                        psql.run(definition)
            with self.publisher.connection("scorebook") as psql:
                psql.run("BEGIN")
                for table in TABLES:
                    columns = ", ".join(f'"{column}"' for column in column_types(store, table))
                    psql.run(f'COPY "{table}" ({columns}) FROM STDIN', copy_lines(store, table))
                psql.run("COMMIT")
                psql.run(f"CREATE PUBLICATION scorebook FOR TABLE {', '.join(quoted(table) for table in TABLES)}")
                psql.run("VACUUM ANALYZE")

    def _count_bytes(self) -> tuple[int, int]:
        """The bytes on the connections, in a pass of its own, because counting takes time."""
        with Relay(self.publisher.port) as relay:
            counts: list[int] = []
            self._measure("counted", relay.port, lambda: counts.append(relay.bytes))
        return counts[1] - counts[0], counts[3] - counts[2]

    def _measure(self, name: str, port: int, note: Callable[[], object] = lambda: None) -> Round:
        """One round; `note` is called before and after each part."""
        for cluster in (self.publisher, self.subscriber):
            create_database(cluster, name, "scorebook")
        with self.publisher.connection(name) as source, self.subscriber.connection(name) as target:
            os.sync()
            note()
            first = self._subscribe(target, self.publisher.address(name, port))
            note()
            size = target.number("SELECT " + " + ".join(f"pg_total_relation_size('{quoted(table)}')" for table in TABLES))
            note()
            few = change(source, target, self.data.few, FEW_VALUE)
            note()
            many = change(source, target, self.data.many, MANY_VALUE)
            target.run("DROP SUBSCRIPTION scorebook")
        for cluster in (self.publisher, self.subscriber):
            with cluster.connection("postgres") as psql:
                psql.run(f"DROP DATABASE {name} WITH (FORCE)")
        return Round(first, few, None, None, size, None, many)

    def _subscribe(self, target: Psql, address: str) -> float:
        """Seconds until the subscription counts all tables as copied, and all records are there."""
        begin = time.perf_counter()
        target.run(f"CREATE SUBSCRIPTION scorebook CONNECTION '{address}' PUBLICATION scorebook")
        pending = "SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'"
        wait_until(lambda: target.number(pending) == 0, 0.005, "the first copy of PostgreSQL")
        counts = " + ".join(f"(SELECT count(*) FROM {quoted(table)})" for table in TABLES)
        wait_until(lambda: target.number(f"SELECT {counts}") == self.data.records, 0.005, "the first copy of PostgreSQL")
        return time.perf_counter() - begin


def expect_access(account: Account, directory: Path) -> None:
    try:
        output(["/bin/sh", "-c", 'test -w "$1"', "sh", str(directory)], **account.options)
    except LeftOut:
        raise LeftOut(f"the user {account.name} cannot reach the work directory; give another one with --work") from None


def quoted(name: str) -> str:
    return f'"{name}"'


def create_database(cluster: Cluster, name: str, template: str) -> None:
    with cluster.connection("postgres") as psql:
        psql.run(f"CREATE DATABASE {name} TEMPLATE {template}")
        psql.run("CHECKPOINT")


def change(source: Psql, target: Psql, names: list[str], value: int) -> float:
    """Seconds from the beginning of the commit of these changes, in one transaction, until the subscriber shows them."""
    seen = f"""SELECT count(*) FROM "SBPlayer" WHERE "seatOrder" = {value}"""
    last = names[-1].replace("'", "''")
    source.run("BEGIN")
    source.run(update_statement(names, value))
    begin = time.perf_counter()
    source.run("COMMIT")
    wait_until(lambda: target.number(f"""{seen} AND "recordName" = '{last}'""") == 1, 0.0005, "the replication of changes")
    seconds = time.perf_counter() - begin
    if target.number(seen) != source.number(seen):
        raise LeftOut("the subscriber has not all changes")
    return seconds


def column_types(store: sqlite3.Connection, table: str) -> dict[str, str]:
    """The columns of a table, and the type in PostgreSQL that takes all values that are there."""
    types: dict[str, str] = {}
    for _, column, declared, *_ in store.execute(f"PRAGMA table_info({table})").fetchall():
        kinds = {row[0] for row in store.execute(f'SELECT DISTINCT typeof("{column}") FROM {table}')} - {"null"}
        types[column] = column_type(declared, kinds)
    return types


def column_type(declared: str, kinds: set[str]) -> str:
    if "blob" in kinds:
        return "bytea"
    exact = {
        "INTEGER": ("bigint", {"integer"}),
        "REAL": ("double precision", {"integer", "real"}),
        "NUMERIC": ("numeric", {"integer", "real"}),
    }
    name, takes = exact.get(declared.upper(), ("text", kinds))
    return name if kinds <= takes else "text"


def table_definitions(store: sqlite3.Connection, table: str) -> Iterator[str]:
    """SQL for the same table in PostgreSQL: primary key, check, references and indexes."""
    lines = [f"{quoted(column)} {kind}" for column, kind in column_types(store, table).items()]
    lines.append('PRIMARY KEY ("recordName")')
    lines.append(f"""CHECK ("recordName" LIKE '{table}|~|_%' AND length("recordName") <= 255 AND "recordName" !~ '[^ -~]')""")
    for _, _, referred, column, *_ in store.execute(f"PRAGMA foreign_key_list({table})"):
        lines.append(
            f'FOREIGN KEY ({quoted(column)}) REFERENCES {quoted(referred)} ("recordName") '
            "ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED"
        )
    yield f"CREATE TABLE {quoted(table)} ({', '.join(lines)})"
    for _, index, _, origin, *_ in store.execute(f"PRAGMA index_list({table})").fetchall():
        if origin == "c":
            columns = [quoted(row[2]) for row in store.execute(f"PRAGMA index_info({quoted(index)})")]
            yield f"CREATE INDEX {quoted(index)} ON {quoted(table)} ({', '.join(columns)})"


def copy_lines(store: sqlite3.Connection, table: str) -> Iterator[str]:
    """The rows of a table in the text format of COPY, and its end."""
    kinds = list(column_types(store, table).values())
    for row in store.execute(f"SELECT * FROM {table}"):
        yield "\t".join(copy_value(value, kind) for value, kind in zip(row, kinds, strict=True)) + "\n"
    yield "\\.\n"


def copy_value(value: object, kind: str) -> str:
    if value is None:
        return "\\N"
    if kind == "bytea":
        return "\\\\x" + (value if isinstance(value, bytes) else str(value).encode()).hex()
    text = str(value)
    for character, escaped in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(character, escaped)
    return text


class Relay:
    """Passes connections on to a port of loopback and counts their bytes, both ways."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.bytes = 0

    def __enter__(self) -> Relay:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self._pass, args=(source, target), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(1 << 18):
                target.sendall(data)
                with self.lock:
                    self.bytes += len(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            target.close()


# MARK: Results


@dataclass(frozen=True)
class Result:
    """The figures of one alternative, as they are written as JSON: seconds of each round, bytes, KiB."""

    name: str
    title: str
    version: str
    records: int
    firstCopySeconds: list[float]
    changesSeconds: list[float]
    bytesFirst: int | None
    bytesChanges: int | None
    storeRatio: float | None
    """Of the copy's size to that of the SQLite file."""
    peakKiB: int | None
    largeChangeRecords: int
    largeChangeSeconds: list[float]
    lacks: str

    @classmethod
    def of(cls, name: str, alternative: Alternative, rounds: list[Round], data: Data) -> Result:
        stored = median([entry.store_bytes for entry in rounds])
        bytes_first = median([entry.bytes_first for entry in rounds])
        bytes_changes = median([entry.bytes_changes for entry in rounds])
        large = known([entry.many_seconds for entry in rounds])
        return cls(
            name=name,
            title=alternative.title,
            version=alternative.version,
            records=data.records,
            firstCopySeconds=[entry.first_seconds for entry in rounds],
            changesSeconds=known([entry.changes_seconds for entry in rounds]),
            bytesFirst=None if bytes_first is None else round(bytes_first),
            bytesChanges=None if bytes_changes is None else round(bytes_changes),
            storeRatio=None if stored is None else stored / data.bytes,
            peakKiB=max((entry.peak for entry in rounds if entry.peak is not None), default=None),
            largeChangeRecords=len(data.many) if large else 0,
            largeChangeSeconds=large,
            lacks=alternative.lacks,
        )

    def row(self) -> str:
        """A row of the table."""
        speeds = [self.records / seconds for seconds in self.firstCopySeconds]
        changes = median(self.changesSeconds)
        cells = [
            self.title,
            figures(statistics.median(speeds)),
            f"{figures(min(speeds))} to {figures(max(speeds))}",
            "all again" if changes is None else figures(changes * 1000),
            f"{shown(self.bytesFirst)} / {shown(self.bytesChanges)}",
            "–" if self.storeRatio is None else f"{self.storeRatio:.2f}",
            "–" if self.peakKiB is None else figures(self.peakKiB / 1024),
            self.lacks,
        ]
        return f"| {' | '.join(cells)} |"


def known(figures: Iterable[float | None]) -> list[float]:
    return [figure for figure in figures if figure is not None]


def median(figures: Iterable[float | None]) -> float | None:
    """Of those that are known; None if none is."""
    return statistics.median(known(figures)) if known(figures) else None


def figures(value: float) -> str:
    """A number with three significant digits."""
    digits = f"{value:.3g}"
    return f"{float(digits):.0f}" if float(digits) >= 100 else digits


def shown(count: int | None) -> str:
    return "–" if count is None else str(count)


def table(results: list[Result], data: Data) -> str:
    lines = [
        f"| {data.records} records | records/s of a first copy | least to greatest | {FEW_CHANGES} changes (ms) "
        f"| bytes moved, first / {FEW_CHANGES} changes | store, SQLite file = 1 | peak MiB | what it does not do |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
        *(result.row() for result in results),
        "",
        f"The SQLite file of the seven tables has {data.bytes} bytes. {', '.join(result.version for result in results)}.",
    ]
    for result in results:
        if result.largeChangeSeconds:
            times = [seconds * 1000 for seconds in result.largeChangeSeconds]
            lines.append(
                f"{result.title}: a transaction of {result.largeChangeRecords} changes is seen after "
                f"{figures(statistics.median(times))} ms ({figures(min(times))} to {figures(max(times))})."
            )
    return "\n".join(lines)


# MARK: Command line


NAMES = ("plain-copy", "rsync", "session", "pycrdt", "postgresql")


class Parser(argparse.ArgumentParser):
    """Answers wrong arguments in one sentence."""

    def error(self, message: str) -> NoReturn:
        print(f"alternatives.py: {message}", file=sys.stderr)
        sys.exit(EX_USAGE)


def positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"it must be a whole number of at least 1, not {text!r}")
    return int(text)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = Parser(description=__doc__, allow_abbrev=False)
    parser.add_argument("store", metavar="STORE", type=Path, help="a scorebook; it is only read")
    parser.add_argument("--work", metavar="DIR", type=Path, help="where files go (default: a temporary directory)")
    parser.add_argument("--rounds", metavar="N", type=positive, default=3, help="how often each is measured (default: 3)")
    parser.add_argument("--only", metavar="NAME", nargs="+", choices=NAMES, default=NAMES, help=f"any of {', '.join(NAMES)}")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures of each round there")
    parser.add_argument("--python", metavar="PYTHON", help="an interpreter that has pycrdt (default: one is made)")
    options = parser.parse_args(arguments)
    if options.work and options.work.exists() and not options.work.is_dir():
        parser.error(f"{options.work} is not a directory")
    if options.json and not options.json.absolute().parent.is_dir():
        parser.error(f"there is no directory for {options.json}")
    return options


@contextmanager
def work_directory(parent: Path | None) -> Iterator[Path]:
    """A directory of this run, removed afterwards; the user postgres can pass through it."""
    if parent:
        parent.mkdir(parents=True, exist_ok=True)
    directory = Path(tempfile.mkdtemp(prefix="alternatives-", dir=parent)).resolve()
    try:
        directory.chmod(0o711 if os.geteuid() == 0 else 0o700)
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def makers(options: argparse.Namespace, directory: Path, data: Data, runner: Runner) -> dict[str, Callable[[], Alternative]]:
    """What makes each alternative."""
    venv = (options.work or directory).resolve() / "venv"
    return {
        "plain-copy": lambda: PlainCopy(data, runner),
        "rsync": lambda: Rsync(data, runner),
        "session": lambda: Session(data, runner),
        "pycrdt": lambda: Pycrdt(data, runner, options.python, venv),
        "postgresql": lambda: Postgres(data, runner, directory / "pg"),
    }


def leave_out(name: str, problem: Exception) -> None:
    print(f"{name} is left out: {problem}", file=sys.stderr)


def measure(options: argparse.Namespace, directory: Path, data: Data) -> list[Result]:
    """All rounds. Whoever comes first takes turns."""
    alternatives: dict[str, Alternative] = {}
    for name, make in makers(options, directory, data, Runner.make(data.directory)).items():
        if name not in options.only:
            continue
        try:
            alternatives[name] = make()
        except (LeftOut, OSError, subprocess.TimeoutExpired) as problem:
            leave_out(name, problem)
    rounds: dict[str, list[Round]] = {name: [] for name in alternatives}
    for number in range(options.rounds):
        for name in list(rounds) if number % 2 == 0 else list(reversed(rounds)):
            try:
                rounds[name].append(alternatives[name].measure(number))
            except (LeftOut, OSError, subprocess.TimeoutExpired) as problem:
                leave_out(name, problem)
                del rounds[name]
    return [Result.of(name, alternatives[name], measured, data) for name, measured in rounds.items()]


def run(options: argparse.Namespace) -> int:
    with work_directory(options.work) as directory:
        (directory / "data").mkdir(mode=0o700)
        data = prepare(options.store, directory / "data")
        results = measure(options, directory, data)
        if not results:
            return EX_UNAVAILABLE
        print(table(results, data))
        if options.json:
            options.json.write_text(json.dumps([asdict(result) for result in results], indent=2) + "\n")
    return 0


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda number, _: sys.exit(128 + number))
    if not options.store.is_file():
        print(f"alternatives.py: there is no store {options.store}", file=sys.stderr)
        return EX_NOINPUT
    try:
        return run(options)
    except BadStore as problem:
        print(f"alternatives.py: {problem}", file=sys.stderr)
        return EX_DATAERR
    except OSError as problem:
        print(f"alternatives.py: {problem}", file=sys.stderr)
        return EX_UNAVAILABLE
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
