"""The machines of scenarios and checks: a store, and a program that works on it."""

import contextlib
import io
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from scorebook_python_peer import cli

HERE = Path(__file__).resolve().parent
PATIENCE = 120


class Running:
    """A program that runs in the background; its lines are read as they come."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self.output = ""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def wait_for(self, pattern: str) -> str:
        """The first group of the first line that matches."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                line = self._lines.get(timeout=max(deadline - time.monotonic(), 0.01))
            except queue.Empty:
                raise AssertionError(f"no {pattern!r} in time, but: {self.output}") from None
            if line is None:
                raise AssertionError(f"ended without {pattern!r}: {self.output}")
            self.output += line
            if found := re.search(pattern, line):
                return found.group(1) if found.groups() else found.group()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *details) -> None:
        self.stop()


class Machine:
    """A store, and the program that works on it."""

    def __init__(self, directory: Path, name: str) -> None:
        self.store = directory / name
        self.name = name

    def command(self, *arguments: str) -> list[str]:
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        return os.environ | {"PYTHONPATH": str(HERE)}

    def fails(self, *arguments: str) -> str:
        """Runs a command that has to fail; gives what it says."""
        done = self._run(arguments)
        assert done.returncode != 0, f"{arguments} did not fail: {done.stdout}"
        return done.stdout + done.stderr

    def run(self, *arguments: str, codes: tuple[int, ...] = (0,)) -> str:
        """Runs a command that ends with one of these codes; gives what it prints."""
        done = self._run(arguments)
        assert done.returncode in codes, f"{self.name} {arguments}: exit {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    def _run(self, arguments: tuple[str, ...]) -> subprocess.CompletedProcess:
        return subprocess.run(
            self.command(*arguments), capture_output=True, text=True, timeout=PATIENCE, env=self.environment()
        )

    def start(self, *arguments: str) -> Running:
        return Running(self.command(*arguments), self.environment())

    def listen(self, *more: str) -> "Listening":
        return Listening(self.start("listen", "--host", "127.0.0.1", "--port", "0", "--name", self.name, *more))

    def connect(self, address: str, *more: str) -> str:
        return self.run("connect", address, "--name", self.name, "--once", *more)

    def digest(self) -> str:
        raise NotImplementedError


class Listening:
    """A machine that listens; its address, and its code if it shows one."""

    def __init__(self, running: Running) -> None:
        self.running = running
        self.address = running.wait_for(r"listening on (\S+:\d+)")

    def code(self) -> str:
        return self.running.wait_for(r"pairing code (\d{3}-\d{3})")

    def __enter__(self) -> "Listening":
        return self

    def __exit__(self, *details) -> None:
        self.running.stop()


class Python(Machine):
    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "scorebook_python_peer", "--state", str(self.store), *arguments]

    def _run(self, arguments: tuple[str, ...]) -> subprocess.CompletedProcess:
        """Runs a command in this process. Starting an interpreter for each would take most of the time."""
        output, errors = io.StringIO(), io.StringIO()
        signal.alarm(PATIENCE)
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = cli.main(["--state", str(self.store), *arguments])
        signal.alarm(0)
        return subprocess.CompletedProcess(arguments, code, output.getvalue(), errors.getvalue())

    def digest(self) -> str:
        return json.loads(self.run("digest", "--json"))[0]["digest"]

    def record(self, name: str) -> dict:
        return json.loads(self.run("show", name, "--json"))[name]

    def fields(self, record: str) -> dict:
        return {field: list(value.values())[0] for field, value in self.record(record)["fields"].items()}


def give_up(number: int, frame: object) -> None:
    raise AssertionError("a command of the Python peer takes too long")


def next_millisecond() -> None:
    """What is written from now on is later than all before: both programs read the same clock."""
    begun = time.time_ns() // 1_000_000
    while time.time_ns() // 1_000_000 == begun:
        time.sleep(0.001)


def equal(a: object, b: object) -> None:
    assert a == b, f"{a!r} is not {b!r}"


def moved(output: str) -> tuple[int, int, int]:
    """What this peer says that it sent, received and reconciled."""
    found = re.search(r"sent (\d+), received (\d+), reconciled (\d+)", output)
    assert found, output
    return int(found[1]), int(found[2]), int(found[3])


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            if holds():
                return
        except (AssertionError, KeyError):
            pass
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.2)


def pair(caller: Machine, listener: Machine, *more: str) -> str:
    """Pairs and syncs once; gives what the caller says."""
    allowing = ["--merge"] if "--merge" in more else []
    with listener.listen("--pair", *allowing) as listening:
        output = caller.connect(listening.address, "--code", listening.code(), *more)
    equal(caller.digest(), listener.digest())
    return output


def sync(caller: Machine, listener: Machine, *more: str) -> str:
    with listener.listen() as listening:
        output = caller.connect(listening.address, *more)
    equal(caller.digest(), listener.digest())
    return output


def copy_of(machine: Machine, name: str) -> Path:
    copy = machine.store.with_name(name)
    shutil.copytree(machine.store, copy)
    return copy


def restore(machine: Machine, copy: Path) -> None:
    shutil.rmtree(machine.store)
    shutil.copytree(copy, machine.store)
