"""A machine of the chaos: a host, a small disk, a clock, the program, and a user who writes."""

import argparse
import contextlib
import glob
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from checker import Gap
from network import Host

PORT = 7431
PATIENCE = 300
"""Only a fault lets anybody wait for so many seconds."""
DISK = 64 * 1024 * 1024


class Machine:
    has_own_clock = True
    """Whether its clock can be set."""

    def __init__(self, host: Host, directory: Path, programs: list[Path], disk: int = DISK) -> None:
        self.host = host
        self.name = host.name
        self.programs = programs
        self.disk = directory / "disk"
        self.disk.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={disk}", "none", self.disk], check=True)
        self.store = self.disk / "store"
        self.database = self.store / "scorebook.sqlite"
        self.log = directory / "writes"
        self.log.touch()
        self._output = (directory / "output").open("ab")
        self._clock = directory / "clock"
        self.set_clock(0)
        self._backup = directory / "backup.sqlite"
        self._saved_at = 0
        self.epoch = 0
        self.gaps: list[Gap] = []
        self.writer: subprocess.Popen | None = None
        self.listener: subprocess.Popen | None = None
        self.ended_by_itself = 0
        """How often the program ended with an error, as on a full disk."""

    # The program

    def command(self, program: Path, *arguments: str) -> list[str]:
        return self.host.command(str(program), *arguments, "--store", str(self.store))

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            self.command(self.programs[-1], *arguments), capture_output=True, text=True, timeout=PATIENCE,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{self.name}: {arguments} ends with {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    def status(self) -> dict:
        return json.loads(self.run("status", "--json"))

    def listen(self, others: list["Machine"], program: Path) -> None:
        connects = [part for other in others for part in ("--connect", f"{other.host.address}:{PORT}")]
        # Swift does not find the arguments in the process that sees libfaketime first, so that is a shell.
        command = self.host.command(
            "/bin/sh", "-c", 'exec "$0" "$@"', str(program), "listen", "--no-discovery", "--port", str(PORT), *connects,
            "--store", str(self.store),
        )  # fmt: skip
        # A signal to the group of whoever started this is for the run, and not for the programs in it.
        self.listener = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self._output, stderr=subprocess.STDOUT, env=self._environment(),
            start_new_session=True,
        )  # fmt: skip

    def kill(self) -> bool:
        """Whether the program ran until now."""
        if self.listener is None:
            return False
        self.listener.send_signal(signal.SIGCONT)
        self.listener.kill()
        code = self.listener.wait()
        self.listener = None
        return code == -signal.SIGKILL

    def stop(self) -> None:
        if self.listener:
            self.listener.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        if self.listener:
            self.listener.send_signal(signal.SIGCONT)

    def crash(self) -> str | None:
        """A sentence if the program has ended by a signal that nobody sent."""
        if self.listener is None or (code := self.listener.poll()) is None:
            return None
        self.listener = None
        self.ended_by_itself += 1
        return f"{self.name}: the program crashed with signal {-code}" if code < 0 else None

    # The user

    def order(self, line: str) -> int:
        """Tells the user what to do; gives the number of writes so far."""
        assert self.writer and self.writer.stdin and self.writer.stdout
        self.writer.stdin.write(line + "\n")
        self.writer.stdin.flush()
        answer = self.writer.stdout.readline()
        assert answer, f"the user of {self.name} has ended with {self.writer.wait()}"
        return int(answer)

    def begin_writing(self, seed: int, rate: float) -> None:
        arguments = [str(self.database), str(self.log), self.name, str(seed), str(rate)]
        self.writer = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("writer.py")), *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=self._environment(), start_new_session=True,
        )  # fmt: skip
        self.order("go 0")

    def rest(self) -> int:
        return self.order("rest")

    def write_on(self) -> None:
        self.order(f"go {self.epoch}")

    # What goes wrong

    def _environment(self) -> dict[str, str]:
        if not self.has_own_clock:
            return dict(os.environ)
        # Deadlines and pauses go by the clock that nobody sets.
        library = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")[0]
        return os.environ | {
            "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": str(self._clock), "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }  # fmt: skip

    def set_clock(self, seconds: int) -> None:
        new = self._clock.with_suffix(".new")
        new.write_text(f"{seconds:+d}s\n", encoding="ascii")
        new.rename(self._clock)

    @contextlib.contextmanager
    def full_disk(self):
        ballast = self.disk / "ballast"
        with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1024 * 1024))
        with contextlib.suppress(OSError), ballast.open("ab", buffering=0) as file:
            while True:
                file.write(bytes(512))
        try:
            yield
        finally:
            ballast.unlink()

    @property
    def has_backup(self) -> bool:
        return self._backup.exists()

    def back_up(self) -> None:
        number = self.rest()
        with contextlib.closing(sqlite3.connect(self.database, timeout=60)) as database:
            with contextlib.closing(sqlite3.connect(self._backup)) as copy:
                database.backup(copy)
        self._saved_at = number
        self.write_on()

    def restore(self) -> bool:
        """Puts the backup in the place of the database, while nobody uses it. Gives whether a program was killed for that."""
        number = self.rest()
        was_killed = self.kill()
        for path in self.store.glob("scorebook.sqlite*"):
            path.unlink()
        shutil.copyfile(self._backup, self.database)
        self._backup.unlink()
        self.gaps.append(Gap(self.name, self._saved_at, number))
        self.epoch += 1
        self.write_on()
        return was_killed

    # The end

    def pending(self) -> int:
        """How many writes the program has not taken in."""
        with contextlib.closing(sqlite3.connect(self.database, timeout=60)) as database:
            return database.execute("SELECT COUNT(*) FROM grdb_sync_pendingChange").fetchone()[0]

    def keep(self, directory: Path) -> None:
        copy = directory / self.name
        copy.mkdir(parents=True, exist_ok=True)
        for path in (*self.store.glob("scorebook.sqlite*"), self.log, self.log.with_name("output")):
            shutil.copy(path, copy)

    def stop_writing(self) -> None:
        self.rest()
        assert self.writer and self.writer.stdin
        self.writer.stdin.close()
        assert self.writer.wait() == 0


def program(text: str) -> Path:
    """The program of an argument."""
    path = Path(text).resolve()
    if not path.is_file() or not os.access(path, os.X_OK):
        raise argparse.ArgumentTypeError(f"{text} is no program")
    return path


def positive(text: str) -> float:
    """The number of an argument, greater than 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no number greater than 0")
    return number


def eventually(holds, seconds: float, pause: float = 0.5) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True


def pair(machines: list[Machine]) -> None:
    """Pairs all with the first one, which introduces them to each other."""
    first, *others = machines
    first.run("person", "add", "Nobody", "--new")
    for machine in others:
        command = ["listen", "--pair", "--no-discovery", "--port", str(PORT), "--name", first.name, "--json"]
        listener = subprocess.Popen(
            first.command(first.programs[-1], *command), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
        )
        assert listener.stdout
        events = (json.loads(line) for line in listener.stdout)
        code = next(event["code"] for event in events if event["event"] == "pairingCode")
        address = f"{first.host.address}:{PORT}"
        machine.run("connect", address, "--code", code, "--once", "--no-discovery", "--name", machine.name, "--new")
        listener.terminate()
        listener.communicate(timeout=PATIENCE)
