"""Kills scorebook-peer at random moments while it uses a mailbox, and sees whether anything is lost or left behind.

Three machines of a household write, and sync through a folder alone. Again and again one of them is killed (SIGKILL) while it
reads, puts or removes something. After each kill its store has to open. At the end, without more kills, all machines have to
hold the same, which is what was committed last on the machine that writes each record; a newcomer could be made from the
mailbox; and each object there is one that the last head of its author names.

What the heads name is read with the Python peer, which was written from Protocol/mailbox.md alone.
"""

import argparse
import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

from machines import equal, pair
from reference import Reference
from scorebook_python_peer.mailbox.head import open_head
from scorebook_python_peer.mailbox.sealing import Author
from scorebook_python_peer.mailbox.segment import piece_name, pieces_of, segment_name
from scorebook_python_peer.noise import KeyPair

NAMES = ("kitchen", "study", "attic")
DAY = 24 * 3600


class Writer:
    """A machine, and what its user has committed: games that only this machine writes."""

    def __init__(self, directory: Path, name: str, chance: random.Random) -> None:
        self.machine = Reference(directory, name)
        self.games: dict[str, tuple[str, bytes | None]] = {}
        """By record name: the name of the game, and its picture."""
        self._chance = chance

    @property
    def author(self) -> Author:
        return Author(KeyPair(bytes.fromhex((self.machine.store / "identity.key").read_text().split()[-1])))

    def write(self, *, picture: bool) -> None:
        """One transaction; what is noted is durable. Some changes are large, so that logs are soon replaced."""
        chance = self._chance
        changes: dict[str, tuple[str, bytes | None] | None] = {}
        for _ in range(chance.randint(1, 3)):
            known = [name for name in self.games if name not in changes]
            name = chance.choice(known) if known and chance.random() < 0.6 else self._new_name()
            if name in self.games and chance.random() < 0.2:
                changes[name] = None
            else:
                changes[name] = (self._text(), self.games.get(name, ("", None))[1])
        if picture and (name := next((name for name, game in changes.items() if game), None)):
            changes[name] = (changes[name][0], chance.randbytes(chance.choice((900_000, 1_500_000))))
        with contextlib.closing(sqlite3.connect(self.machine.store / "scorebook.sqlite", timeout=60)) as database:
            database.execute("PRAGMA synchronous = FULL")
            with database:
                for name, game in changes.items():
                    self._apply(database, name, game, picture)
        for name, game in changes.items():
            if game is None:
                del self.games[name]
            else:
                self.games[name] = game

    def _apply(
        self, database: sqlite3.Connection, name: str, game: tuple[str, bytes | None] | None, picture: bool
    ) -> None:  # fmt: skip
        if game is None:
            database.execute("DELETE FROM SBGame WHERE recordName = ?", [name])
        elif name in self.games:
            database.execute("UPDATE SBGame SET name = ? WHERE recordName = ?", [game[0], name])
        else:
            database.execute("INSERT INTO SBGame (recordName, name) VALUES (?, ?)", [name, game[0]])
        if game and picture and game[1] is not None and game != self.games.get(name):
            database.execute("UPDATE SBGame SET thumbnail = ? WHERE recordName = ?", [game[1], name])

    def _new_name(self) -> str:
        return f"SBGame|~|{uuid.UUID(int=self._chance.getrandbits(128), version=4)}"

    def _text(self) -> str:
        length = self._chance.choice((10, 10, 1_000, 60_000))
        return self._chance.randbytes(length).hex()

    def shown(self) -> dict[str, str]:
        with contextlib.closing(sqlite3.connect(self.machine.store / "scorebook.sqlite", timeout=60)) as database:
            return dict(database.execute("SELECT recordName, name FROM SBGame"))

    def is_used_by(self, process: int) -> bool:
        """Whether a program has noted that it uses the mailbox. One that was killed meanwhile leaves that."""
        with contextlib.closing(sqlite3.connect(self.machine.store / "scorebook.sqlite", timeout=60)) as database:
            return (process,) in database.execute("SELECT process FROM grdb_sync_mailbox").fetchall()

    def pictures(self) -> set[bytes]:
        files = (path for path in (self.machine.store / "assets").rglob("*") if path.is_file())
        return {path.read_bytes() for path in files}


class Household:
    """The machines, their mailbox, and how often each was killed."""

    def __init__(self, directory: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.folder = directory / "box"
        self.folder.mkdir()
        self.writers = [Writer(directory, name, self.chance) for name in NAMES]
        for other in self.writers[1:]:
            pair(self.writers[0].machine, other.machine)
        for writer in self.writers:
            writer.machine.run("mailbox", "add", "folder", str(self.folder))
        self._durations = [1.0]
        self.killed = 0
        """How often a program was killed."""
        self.kills = 0
        """How often while it used the mailbox."""
        self.rounds = 0

    def round(self) -> None:
        """One machine writes and syncs; most of the time it is killed meanwhile."""
        chance, writer = self.chance, self.chance.choice(self.writers)
        self.rounds += 1
        if chance.random() < 0.7:
            writer.write(picture=chance.random() < 0.06)
        if chance.random() < 0.12:
            self._listen(writer)
        elif chance.random() < 0.7:
            self._sync(writer, killing=True)
        else:
            self._sync(writer, killing=False)

    def _sync(self, writer: Writer, *, killing: bool) -> None:
        begun = time.monotonic()
        process = subprocess.Popen(
            writer.machine.command("mailbox", "sync"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        usual = sorted(self._durations)[len(self._durations) // 2]
        # Before that, the program only begins.
        moment = self.chance.uniform(0.4, 1.1) * usual
        try:
            output, _ = process.communicate(timeout=moment if killing else 300)
        except subprocess.TimeoutExpired:
            self._kill(process, writer)
            return
        assert process.returncode == 0, f"{writer.machine.name}: mailbox sync: exit {process.returncode}: {output}"
        if not killing:
            self._durations = [*self._durations[-20:], time.monotonic() - begun]

    def _listen(self, writer: Writer) -> None:
        """While the machine runs, it is written to once more."""
        process = subprocess.Popen(
            writer.machine.command("listen", "--no-discovery", "--host", "127.0.0.1", "--port", "0"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(self.chance.uniform(0, 1))
        writer.write(picture=False)
        # It waits for two seconds for more changes.
        time.sleep(self.chance.uniform(1.8, 3))
        assert process.poll() is None, f"{writer.machine.name}: listen ended: {process.returncode}"
        self._kill(process, writer)

    def _kill(self, process: subprocess.Popen, writer: Writer) -> None:
        process.kill()
        process.wait()
        if process.returncode != -signal.SIGKILL:
            return
        self.killed += 1
        self.kills += writer.is_used_by(process.pid)
        # Its store opens.
        writer.machine.run("status", "--json")

    # The end

    def settle(self) -> None:
        """Lets all sync until nobody puts anything."""
        for _ in range(12):
            before = self.objects()
            for writer in self.writers:
                writer.machine.run("mailbox", "sync")
            if self.objects() == before:
                return
        raise AssertionError("the machines do not come to rest")

    def objects(self) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}

    def check(self) -> None:
        # A program that was killed in the middle of a file leaves it, and whoever finds it a day later removes it.
        for path in self.folder.rglob(".*"):
            os.utime(path, (time.time() - 2 * DAY, time.time() - 2 * DAY))
        self.settle()
        digests = {writer.machine.name: writer.machine.digest() for writer in self.writers}
        assert len(set(digests.values())) == 1, f"the machines do not hold the same: {digests}"
        committed = {name: game[0] for writer in self.writers for name, game in writer.games.items()}
        pictures = {game[1] for writer in self.writers for game in writer.games.values() if game[1] is not None}
        for writer in self.writers:
            shown = writer.shown()
            lost = [name for name, game in committed.items() if shown.get(name) != game]
            assert not lost, f"{writer.machine.name} lacks what was committed: {lost[:3]}"
            equal(set(shown), set(committed))
            assert pictures <= writer.pictures(), f"{writer.machine.name} lacks pictures"
        for writer in self.writers:
            writer.machine.run("mailbox", "check")
        self._check_objects()

    def _check_objects(self) -> None:
        there, named = self.objects(), self.named()
        assert not there - named, f"nobody names {sorted(there - named)[:3]}, {len(there - named)} in all"
        assert not named - there, f"{sorted(named - there)[:3]} are named and not there"

    def named(self) -> set[str]:
        """The last head of each author, and what it names, as another machine reads it."""
        named: set[str] = set()
        for writer, reader in zip(self.writers, [*self.writers[1:], self.writers[0]]):
            author = writer.author
            heads = sorted((self.folder / "heads").glob(f"{author.id.hex()}-*"))
            assert heads, f"{writer.machine.name} has no head"
            named.add(f"heads/{heads[-1].name}")
            counter = int(heads[-1].name.rpartition("-")[2], 16)
            head = open_head(reader.author, author.key, author.id, counter, heads[-1].read_bytes())
            assert head is not None, f"{reader.machine.name} cannot open the head of {writer.machine.name}"
            for zone in head.zones:
                names = [segment_name(zone.log_key, number) for number in range(1, zone.segments + 1)]
                for file in zone.offered:
                    key = zone.file_keys[file.key][1]
                    names += [piece_name(key, file.hash, piece) for piece in range(pieces_of(file.size))]
                named |= {f"{author.id.hex()}/{name}" for name in names}
        return named


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kills", type=int, help="how many processes to kill while they use the mailbox")
    parser.add_argument("--seed", type=int, default=1, help="of what the machines write, and of the moments")
    parser.add_argument("--program", type=Path, required=True, help="scorebook-peer")
    parser.add_argument("--each", type=int, default=100, help="after so many kills everything is checked")
    arguments = parser.parse_args()
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    Reference.program = arguments.program.resolve()
    with tempfile.TemporaryDirectory(prefix="kills-") as directory:
        household, begun = Household(Path(directory), arguments.seed), time.monotonic()
        while household.kills < arguments.kills:
            goal = min(household.kills + arguments.each, arguments.kills)
            while household.kills < goal:
                household.round()
            household.check()
            objects = household.objects()
            print(
                f"{household.kills} kills within the mailbox, {household.killed} in all, in {household.rounds} rounds "
                f"({time.monotonic() - begun:.0f} s): all equal, nothing lost, {len(objects)} objects, all named",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
