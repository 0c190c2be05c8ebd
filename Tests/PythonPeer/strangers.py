"""Lets many strangers besiege a machine that listens, and measures what its paired machines notice of that.

A third of them says nothing, a third sends half of a first message, and a third shakes hands and then sends all but the
end of the longest message that a stranger may send. Whoever is closed comes again at once. Prints a table; exit 1 if
something of a paired machine did not arrive, or the listener took more memory than Protocol/ 14.2 says.
"""

import argparse
import asyncio
import contextlib
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from machines import Listening, give_up, pair
from reference import Reference
from scorebook_python_peer.channel import Channel
from scorebook_python_peer.errors import PeerError
from scorebook_python_peer.messages import EARLY_MESSAGE_LIMIT
from scorebook_python_peer.noise import KeyPair
from scorebook_python_peer.wire import encode_varint

MEMORY_LIMIT = 32 << 20
"""For all strangers together: protocol.md 14.2."""
PAUSE_SECONDS = 0.1


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/strangers", description=__doc__)
    parser.add_argument("--program", type=Path, default=Path(".build/debug/scorebook-peer"), help="scorebook-peer")
    parser.add_argument("--count", type=int, default=1000, help="how many strangers")
    parser.add_argument("--changes", type=int, default=20, help="how many changes and connections are timed")
    parser.add_argument("--crowd", metavar="HOST:PORT", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.crowd:
        asyncio.run(crowd(arguments.crowd, arguments.count))
        return 0
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.signal(signal.SIGALRM, give_up)
    Reference.program = arguments.program.resolve()
    with tempfile.TemporaryDirectory(prefix="strangers-") as directory:
        return Siege(Path(directory), arguments.count, arguments.changes).run()


class Siege:
    def __init__(self, directory: Path, count: int, changes: int) -> None:
        self.count = count
        self.changes = changes
        self.kitchen, self.study, self.attic = (Reference(directory, name) for name in ("kitchen", "study", "attic"))
        self.written = 0

    def run(self) -> int:
        pair(self.study, self.kitchen)
        pair(self.attic, self.kitchen)
        with self.kitchen.listen() as listening, self.study.start("connect", listening.address) as calling:
            calling.wait_for("in sync")
            process = listening.running.process.pid
            print(f"{'':24}{'alone':>12}{f'{self.count} strangers':>18}", flush=True)
            before = self.measure(listening, process)
            command = [sys.executable, __file__, "--crowd", listening.address, "--count", str(self.count)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1) as besiegers:
                assert besiegers.stdout is not None
                try:
                    besiegers.stdout.readline()  # each has come once
                    during = self.measure(listening, process)
                finally:
                    besiegers.terminate()
                    came = besiegers.stdout.read()
            for what, unit in (("memory, most", "MiB"), ("a change arrives", "ms"), ("a machine connects", "ms")):
                one, other = before[what], during[what]
                print(f"{what:24}{one:>8.1f} {unit:3}{other:>14.1f} {unit}", flush=True)
            print(came.strip())
            grown = during["memory, most"] - before["memory, most"]
            if grown * (1 << 20) > MEMORY_LIMIT:
                print(f"error: strangers took {grown:.1f} MiB")
                return 1
        return 0

    def measure(self, listening: Listening, process: int) -> dict[str, float]:
        arrivals, connections = [], []
        for _ in range(self.changes):
            arrivals.append(self.time(self.change_arrives))
            connections.append(self.time(lambda: self.attic.connect(listening.address)))
        memory = int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())[1]) / 1024
        return {
            "memory, most": memory,
            "a change arrives": 1000 * median(arrivals),
            "a machine connects": 1000 * median(connections),
        }

    @staticmethod
    def time(work) -> float:
        began = time.monotonic()
        work()
        return time.monotonic() - began

    def change_arrives(self) -> None:
        """From the commit of another program here to the row there."""
        self.written += 1
        self.kitchen.sql(f"INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|{self.written}', 'Catan')")
        deadline = time.monotonic() + 60
        with contextlib.closing(sqlite3.connect(self.study.store / "scorebook.sqlite")) as there:
            query = "SELECT count(*) FROM SBGame WHERE recordName = ?"
            while not there.execute(query, (f"SBGame|~|{self.written}",)).fetchone()[0]:
                assert time.monotonic() < deadline, "a change did not arrive"
                time.sleep(0.002)


async def crowd(address: str, count: int) -> None:
    """Says a line when each has come once, and another, at its end, how often all came."""
    host, _, port = address.rpartition(":")
    came = [0] * count
    is_over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, is_over.set)
    identity = KeyPair.generate()

    async def stranger(number: int) -> None:
        own = (f"127.0.{number // 250}.{number % 250 + 2}", 0) if sys.platform == "linux" else None
        while not is_over.is_set():
            with contextlib.suppress(OSError, PeerError):
                reader, writer = await asyncio.open_connection(host, int(port), local_addr=own)
                try:
                    came[number] += 1
                    await pester(number % 3, reader, writer)
                    await reader.read()
                finally:
                    writer.close()
            await asyncio.sleep(PAUSE_SECONDS)

    async def pester(kind: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        match kind:
            case 1:
                writer.write(b"\2\0" + os.urandom(300))
            case 2:
                channel = await Channel.call(reader, writer, identity)
                await channel.send(encode_varint(EARLY_MESSAGE_LIMIT) + bytes(EARLY_MESSAGE_LIMIT - 1))

    tasks = [asyncio.create_task(stranger(number)) for number in range(count)]
    while not all(came):
        await asyncio.sleep(0.1)
    print("all have come", flush=True)
    await is_over.wait()
    print(f"{count} strangers came {sum(came)} times", flush=True)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


if __name__ == "__main__":
    sys.exit(main())
