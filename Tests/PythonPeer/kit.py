"""What the conformance kit knows of the machine that it tries: where it listens, and how to make it do something."""

import asyncio
import shlex
import socket
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from machines import PATIENCE, Listening, Python
from probe import CALLER
from scorebook_python_peer.store import Store

HOOK_SECONDS = 10

Play = Callable[[asyncio.StreamReader, asyncio.StreamWriter, Store], Awaitable[str]]


class NotTried(Exception):
    """The other side does not offer what a check needs."""


@dataclass
class Hook:
    """The command that makes the other side do something: Protocol/README.md says which words it is called with."""

    command: list[str]

    def run(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([*self.command, *words], capture_output=True, text=True, timeout=PATIENCE)

    def do(self, *words: str) -> None:
        done = self.run(*words)
        assert done.returncode == 0, f"--do {shlex.join(words)}: exit {done.returncode}: {done.stdout}{done.stderr}"

    def start(self, *words: str) -> subprocess.Popen:
        return subprocess.Popen([*self.command, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Kit:
    """One run: the tried machine, and this side's machines, all of one household."""

    def __init__(self, address: str, code: str, hook: Hook | None, directory: Path, own_host: str | None) -> None:
        self.address = address
        self.code = code
        self.name = ""
        """What the tried machine calls itself; known once it is paired."""
        self._hook = hook
        self.own_host = own_host or _host_towards(address)
        self.directory = directory
        # The first is paired with the tried machine, the second with the first alone; the third is called by the tried one,
        # the host gives it a zone only, and the stranger never becomes its peer.
        self.first, self.second, self.third, self.host, self.stranger = (
            Python(directory, f"kit-{name}") for name in ("first", "second", "third", "host", "stranger")
        )

    @property
    def hook(self) -> Hook:
        if self._hook is None:
            raise NotTried("it needs --do")
        return self._hook

    @property
    def has_hook(self) -> bool:
        return self._hook is not None

    def call(self, machine: Python, *more: str) -> str:
        """A machine of this side syncs with the tried one; gives what it says."""
        return machine.connect(self.address, *more)

    def listen(self, machine: Python, *more: str) -> Listening:
        return machine.listen("--host", self.own_host, *more)

    async def connection(self, role: str, play: Play, machine: Python, code: str | None = None) -> str:
        """Plays one connection as a machine of this side: it calls the tried one, or the hook makes that one call."""
        store = Store(machine.store)
        try:
            return await (self._call(play, store) if role == CALLER else self._be_called(play, store, code))
        finally:
            store.close()

    async def _call(self, play: Play, store: Store) -> str:
        host, _, port = self.address.rpartition(":")
        reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
        try:
            return await play(reader, writer, store)
        finally:
            writer.close()

    async def _be_called(self, play: Play, store: Store, code: str | None) -> str:
        outcome: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        has_come = False

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal has_come
            if has_come:
                return writer.close()  # it tries once more, after what this connection was about
            has_come = True
            try:
                outcome.set_result(await play(reader, writer, store))
            except Exception as error:
                outcome.set_exception(error)
            finally:
                writer.close()

        server = await asyncio.start_server(serve, self.own_host, 0)
        host, port = server.sockets[0].getsockname()[:2]
        calling = self.hook.start("connect", f"{host}:{port}", *([code] if code else []))
        try:
            return await asyncio.wait_for(outcome, PATIENCE)
        finally:
            server.close()
            _end(calling)


def _end(process: subprocess.Popen) -> None:
    """Its connection is gone: it ends by itself, or is told to."""
    try:
        process.wait(HOOK_SECONDS)
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            process.wait(HOOK_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _host_towards(address: str) -> str:
    """The address of this machine at which the other one reaches it."""
    host, _, port = address.rpartition(":")
    family, kind, *_, target = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind) as probe:
        probe.connect(target)
        return probe.getsockname()[0]
