"""Four machines of a household, live for hours: users write a hundred times a second, add pictures, and restart programs.

Nothing goes wrong here that does not go wrong in a home. What is looked for grows slowly: memory, open files, the write-ahead log, the
time until all hold the same. The first machine's program is never restarted, so that what it does not give back adds up. A run of
half an hour and more is judged by that; a shorter one only by whether all come to hold the same. Ctrl-C ends it early.
"""

import argparse
import contextlib
import csv
import os
import random
import signal
import sqlite3
import sys
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import checker
from machine import PATIENCE, Machine, eventually, pair, positive, program
from network import Network
from plot import Line, svg

NAMES = ("kitchen", "study", "attic", "cellar")
WORK = Path("/run/chaos")
"""A disk in memory, which ends with the processes: scripts/soak makes it."""
DISK = 1024 * 1024 * 1024
PICTURE = 300_000
"""The bytes of a picture."""
JUDGED = 30
"""A run of so many minutes tells growth from caches that fill."""
SETTLING = 30
"""Within so many seconds all hold the same once users rest, or something is wrong."""
MOST = {"memory": (1.5, 4096), "files": (1, 10), "log": (1.5, 16384)}
"""How much a figure of the first machine may grow from the second quarter of the time to the last one: by a factor, and beside it."""


class QuietMachine(Machine):
    """A machine of which nobody sets the clock."""

    has_own_clock = False

    def restart(self, others: list[Machine]) -> int:
        """Ends the program as a user does, and starts it again. Gives its exit code."""
        assert self.listener
        self.listener.send_signal(signal.SIGTERM)
        code = self.listener.wait(timeout=PATIENCE)
        self.listen(others, self.programs[-1])
        return code

    @property
    def process(self) -> Path:
        assert self.listener
        return Path(f"/proc/{self.listener.pid}")

    def memory(self) -> int:
        """The resident memory of the program that is the machine's own, in KiB."""
        lines = (self.process / "smaps_rollup").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous"))

    def open_files(self) -> int:
        return len(list((self.process / "fd").iterdir()))

    def processor_time(self) -> float:
        """What the program has used, in seconds."""
        if self.listener is None or self.listener.poll() is not None:
            return 0
        # The fields after the name, which may have spaces: the twelfth and thirteenth are ticks.
        ticks = (self.process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    def picture(self, chance: random.Random) -> None:
        """Gives a person another picture, past the program."""
        with contextlib.closing(sqlite3.connect(self.database, timeout=60)) as database:
            database.execute(
                "UPDATE SBPerson SET avatar = ? WHERE recordName = "
                "(SELECT recordName FROM SBPerson ORDER BY recordName LIMIT 1 OFFSET ?)",
                [b"\x89PNG\r\n\x1a\n" + chance.randbytes(PICTURE), chance.randrange(20)],
            )
            database.commit()


@dataclass(frozen=True)
class Sample:
    """What one machine takes at one moment."""

    minutes: float
    machine: str
    memory: int
    """In KiB."""
    files: int
    log: int
    """The size of the write-ahead log, in KiB."""
    database: int
    """In KiB."""
    assets: int
    """In KiB."""
    settled: float
    """The seconds until all held the same when users rested last; the same for all machines."""


def size(path: Path) -> int:
    """The size of a file; 0 if it has gone meanwhile."""
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_size
    return 0


class Ended(BaseException):
    """Somebody ends the run before its time."""


class Soak:
    def __init__(self, directory: Path, program: Path, seed: int, rate: float, table: Path | None) -> None:
        self.chance = random.Random(seed)
        self._table = table.open("w", newline="", encoding="ascii") if table else None
        self._note([field.name for field in fields(Sample)])
        network = Network()
        self.machines = [QuietMachine(network.add(name), directory / name, [program], DISK) for name in NAMES]
        self.samples: list[Sample] = []
        self.violations: list[str] = []
        self.restarts = self.pictures = 0
        self.settled = self.processor_time = 0.0
        pair(list(self.machines))
        for machine in self.machines:
            machine.run("sync", "fuse", "--off")
        for machine in self.machines:
            machine.listen(self.others(machine), program)
            machine.begin_writing(seed, rate / len(NAMES))

    def _note(self, row: list) -> None:
        if self._table:
            csv.writer(self._table).writerow(row)
            self._table.flush()

    def others(self, machine: Machine) -> list[Machine]:
        return [other for other in self.machines if other is not machine]

    def run(self, seconds: float) -> None:
        begin = time.monotonic()
        # In a short run all of it happens, too.
        usual = {"look": 20, "picture": 10, "restart": 240, "rest": 300}
        every = {what: min(pause, seconds / 6) for what, pause in usual.items()}
        due = dict(every)
        while (elapsed := time.monotonic() - begin) < seconds:
            for what in [what for what, moment in due.items() if moment <= elapsed]:
                due[what] = elapsed + every[what]
                self._do(what, elapsed)
            for machine in self.machines:
                if machine.listener and (code := machine.listener.poll()) is not None:
                    self.violations.append(f"the program of {machine.name} ended by itself with {code}")
                    raise Ended
            time.sleep(0.2)
        self._do("rest", seconds)
        self._do("look", seconds)

    def _do(self, what: str, elapsed: float) -> None:
        match what:
            case "look":
                for sample in [self._sample(machine, elapsed) for machine in self.machines]:
                    self.samples.append(sample)
                    self._note(list(asdict(sample).values()))
            case "picture":
                self.chance.choice(self.machines).picture(self.chance)
                self.pictures += 1
            case "restart":
                machine = self.chance.choice(self.machines[1:])
                if code := machine.restart(self.others(machine)):
                    self.violations.append(f"the program of {machine.name} ended with {code} when it was asked to end")
                self.restarts += 1
            case "rest":
                self._rest()

    def _sample(self, machine: QuietMachine, elapsed: float) -> Sample:
        sizes = {path.name: size(path) // 1024 for path in machine.store.iterdir()}
        assets = sum(size(path) for path in (machine.store / "assets").rglob("*") if not path.is_dir())
        return Sample(
            round(elapsed / 60, 2), machine.name, machine.memory(), machine.open_files(),
            sizes.get("scorebook.sqlite-wal", 0), sizes["scorebook.sqlite"], assets // 1024, round(self.settled, 2),
        )  # fmt: skip

    def _rest(self) -> None:
        """Users rest until all machines hold the same."""
        begin = time.monotonic()
        for machine in self.machines:
            machine.rest()

        def is_settled() -> bool:
            tables = [checker.content(machine.database) for machine in self.machines]
            return not any(machine.pending() for machine in self.machines) and all(tables[0] == one for one in tables)

        if not eventually(is_settled, PATIENCE, pause=0.05):
            self.violations.append(f"the machines do not come to hold the same within {PATIENCE} s")
        self.settled = time.monotonic() - begin
        # What is not in these tables may still be on its way.
        if not eventually(lambda: len({machine.status()["digest"] for machine in self.machines}) == 1, PATIENCE):
            self.violations.append("the machines tell several digests of the same records")
        for machine in self.machines:
            machine.write_on()

    def end(self) -> int:
        """Ends all programs; gives how often users wrote."""
        written = sum(machine.rest() for machine in self.machines)
        self.processor_time = self.machines[0].processor_time()
        for machine in self.machines:
            if machine.listener:
                machine.listener.terminate()
                machine.listener.wait(timeout=PATIENCE)
            if not checker.is_sound(machine.database):
                self.violations.append(f"the database of {machine.name} is damaged")
        return written


def growth(samples: list[Sample], what: str) -> tuple[float, float]:
    """The mean of a figure of the first machine in the second quarter of the time, and in the last one.

    In the first quarter caches fill.
    """
    values = [getattr(sample, what) for sample in samples if sample.machine == NAMES[0]] or [0]
    quarter = max(1, len(values) // 4)
    early, late = values[quarter : 2 * quarter] or values, values[-quarter:]
    return sum(early) / len(early), sum(late) / len(late)


def end_early(*_: object) -> None:
    raise Ended


def picture(samples: list[Sample]) -> str:
    """The samples as SVG."""
    titles = {
        "memory": "memory of its own, MiB", "files": "open files", "log": "write-ahead log, MiB",
        "database": "database, MiB", "settled": "seconds until all hold the same",
    }  # fmt: skip
    lines = []
    for what, title in titles.items():
        scale = 1024 if title.endswith("MiB") else 1
        for name in NAMES if what != "settled" else NAMES[:1]:
            points = [(one.minutes, getattr(one, what) / scale) for one in samples if one.machine == name]
            lines.append(Line(title, name, points))
    return svg(lines, "minutes")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=program, help="scorebook-peer")
    parser.add_argument("--minutes", type=positive, default=60, help="for how long (default: 60)")
    parser.add_argument("--rate", type=positive, default=100, help="how often all users together write in a second (default: 100)")
    parser.add_argument("--seed", type=int, default=1, help="of what the users write")
    parser.add_argument("--csv", type=Path, help="write all samples there")
    parser.add_argument("--plot", type=Path, help="draw them there, as SVG")
    options = parser.parse_args()
    for path in filter(None, (options.csv, options.plot)):
        try:
            path.touch()
        except OSError as error:
            parser.error(f"{path} cannot be written: {error.strerror}")
    soak = Soak(WORK, options.program, options.seed, options.rate, options.csv)
    minutes = options.minutes
    signal.signal(signal.SIGTERM, end_early)
    signal.signal(signal.SIGINT, end_early)
    try:
        soak.run(minutes * 60)
    except Ended:
        minutes = soak.samples[-1].minutes if soak.samples else 0
    written = soak.end()
    if options.plot:
        options.plot.write_text(picture(soak.samples), encoding="utf-8")
    print(f"{written} writes, {soak.pictures} pictures, {soak.restarts} restarts in {minutes:g} minutes")
    print(f"processor time of {NAMES[0]}: {soak.processor_time / max(1, written) * 1000:.2f} ms for each write of any of the four")
    for what, unit in (("memory", "KiB"), ("files", "files"), ("log", "KiB"), ("database", "KiB"), ("settled", "s")):
        early, late = growth(soak.samples, what)
        print(f"{what} of {NAMES[0]}: {early:.1f} {unit} in the second quarter of the time, {late:.1f} in the last")
        factor, beside = MOST.get(what, (float("inf"), 0))
        if minutes >= JUDGED and late > early * factor + beside:
            soak.violations.append(f"{what} of {NAMES[0]} has grown")
    slowest = max((sample.settled for sample in soak.samples), default=0)
    if minutes >= JUDGED and slowest > SETTLING:
        soak.violations.append(f"all held the same only after {slowest:.0f} s")
    for sentence in soak.violations[:20]:
        print(f"error: {sentence}")
    print(f"{len(soak.violations)} violations")
    return 1 if soak.violations else 0


if __name__ == "__main__":
    sys.exit(main())
