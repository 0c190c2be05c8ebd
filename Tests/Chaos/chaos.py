"""Five machines of a household, whose users write all the time, while everything goes wrong that can.

Programs are killed and stopped, cables are pulled, clocks are set, disks are full, databases are replaced by backups, and versions of
the program change. Then all heals, and a checker that shares no code with the program reads what the users have noted, and
the five databases: is anything missing that was committed, and has each last writer won?
"""

import argparse
import collections
import contextlib
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import checker
from machine import PATIENCE, Machine, eventually, pair, positive, program
from network import Network
from writes import read

NAMES = ("kitchen", "study", "attic", "cellar", "garden")
SKEW = 120
"""By how many seconds a clock is set ahead or back, at most. Other machines take up to 300."""
WORK = Path("/run/chaos")
"""A disk in memory, which ends with the processes: scripts/chaos makes it."""
FAR = 2 * 24 * 3600
"""By how much a clock is wrong that no machine takes."""


class Chaos:
    def __init__(self, directory: Path, programs: list[Path], seed: int, rate: float, skew: int) -> None:
        self.skew = skew
        self.chance = random.Random(seed)
        self.programs = programs
        network = Network()
        self.machines = [Machine(network.add(name), directory / name, programs) for name in NAMES]
        self.violations: list[str] = []
        self.counts: collections.Counter[str] = collections.Counter()
        self._ends: list[tuple[float, Callable[[], None]]] = []
        """When what goes wrong is mended, and how."""
        self._troubled: set[str] = set()
        """The machines on which something goes wrong now that lasts."""
        self._faults: list[tuple[int, Callable[[Machine], None]]] = [
            (60, self._kill), (10, self._stop), (10, self._cut), (8, self._set_clock), (3, self._set_clock_far),
            (4, self._fill_disk), (5, self._back_up_or_restore),
        ]  # fmt: skip
        self._pair()
        for machine in self.machines:
            machine.begin_writing(seed, rate)

    def _pair(self) -> None:
        pair(self.machines)
        for machine in self.machines:
            # So much is deleted and written over that a person would be asked.
            machine.run("sync", "fuse", "--off")

    # What goes wrong

    def run(self, seconds: float, kills: int) -> None:
        """Lets things go wrong for so long, and until so many programs were killed."""
        end = time.monotonic() + seconds
        while time.monotonic() < end or self.counts["killed"] < kills:
            self._mend(time.monotonic())
            for machine in self.machines:
                if sentence := machine.crash():
                    self.violations.append(sentence)
                if machine.listener is None:
                    self._start(machine)
            weights = [weight for weight, _ in self._faults]
            fault = self.chance.choices(self._faults, weights)[0][1]
            fault(self.chance.choice(self.machines))
            time.sleep(self.chance.uniform(0.02, 0.4))
        self._mend(float("inf"))

    def _mend(self, now: float) -> None:
        due = [mend for end, mend in self._ends if end <= now]
        self._ends = [(end, mend) for end, mend in self._ends if end > now]
        for mend in due:
            mend()

    def _start(self, machine: Machine) -> None:
        others = [other for other in self.machines if other is not machine]
        machine.listen(others, self.chance.choice(self.programs))

    def _for_a_while(self, machine: Machine, trouble: str, longest: float, begin: Callable, end: Callable) -> None:
        """Begins what lasts, unless something else lasts on the machine."""
        if machine.name in self._troubled:
            return
        self._troubled.add(machine.name)
        self.counts[trouble] += 1
        begin()

        def mend() -> None:
            self._troubled.remove(machine.name)
            end()

        self._ends.append((time.monotonic() + self.chance.uniform(0.1, longest), mend))

    def _kill(self, machine: Machine) -> None:
        self.counts["killed"] += machine.kill()

    def _stop(self, machine: Machine) -> None:
        self._for_a_while(machine, "stopped", 5, machine.stop, machine.go_on)

    def _cut(self, machine: Machine) -> None:
        plug = machine.host.plug
        self._for_a_while(machine, "cut off", 10, lambda: plug(is_in=False), lambda: plug(is_in=True))

    def _set_clock(self, machine: Machine) -> None:
        if machine.name not in self._troubled:
            self.counts["clock set"] += 1
            machine.set_clock(self.chance.randint(-self.skew, self.skew))

    def _set_clock_far(self, machine: Machine) -> None:
        """The program's clock only: what a user writes with such a clock is for a person to mend, by `clock repair`."""

        def begin() -> None:
            machine.rest()
            machine.set_clock(self.chance.choice((-FAR, FAR)))

        def end() -> None:
            machine.set_clock(0)
            machine.write_on()

        self._for_a_while(machine, "clock far off", 4, begin, end)

    def _fill_disk(self, machine: Machine) -> None:
        full = contextlib.ExitStack()
        self._for_a_while(machine, "disk full", 3, lambda: full.enter_context(machine.full_disk()), full.close)

    def _back_up_or_restore(self, machine: Machine) -> None:
        if machine.name in self._troubled:
            return
        if machine.has_backup:
            self.counts["restored"] += 1
            self.counts["killed"] += machine.restore()
        else:
            self.counts["backed up"] += 1
            machine.back_up()

    # The end

    def heal(self) -> None:
        """All users rest, nothing goes wrong any more, and all machines run, until they hold the same."""
        for machine in self.machines:
            machine.stop_writing()
            machine.set_clock(0)
            machine.kill()
        for machine in self.machines:
            others = [other for other in self.machines if other is not machine]
            machine.listen(others, self.programs[-1])

        def is_settled() -> bool:
            self.violations += filter(None, [machine.crash() for machine in self.machines])
            tables = [checker.content(machine.database) for machine in self.machines]
            return not any(machine.pending() for machine in self.machines) and all(tables[0] == one for one in tables)

        if not eventually(is_settled, PATIENCE):
            self.violations.append(f"the machines do not come to hold the same within {PATIENCE} s")
        for machine in self.machines:
            machine.kill()

    def check(self) -> None:
        writes = [write for machine in self.machines for write in read(machine.log)]
        gaps = [gap for machine in self.machines for gap in machine.gaps]
        tables = {machine.name: checker.content(machine.database) for machine in self.machines}
        self.counts["written"] = len(writes)
        self.counts["of these deletions"] = sum(write.is_deletion for write in writes)
        self.counts["records there"] = len(next(iter(tables.values())))
        self.counts["ended with an error"] = sum(machine.ended_by_itself for machine in self.machines)
        # One clock ahead and another one back; and a write takes its time.
        self.violations += checker.violations(writes, gaps, tables, margin=2 * self.skew + 5)
        for machine in self.machines:
            if not checker.is_sound(machine.database):
                self.violations.append(f"the database of {machine.name} is damaged")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=program, help="scorebook-peer")
    parser.add_argument("--earlier", type=program, action="append", default=[], help="an earlier version, which runs at times")
    parser.add_argument("--seconds", type=positive, default=60, help="how long things go wrong (default: 60)")
    parser.add_argument("--kills", type=int, default=0, help="go on until so many programs were killed")
    parser.add_argument("--seed", type=int, default=1, help="of what the users write, and of what goes wrong")
    parser.add_argument("--rate", type=positive, default=20, help="how often each user writes in a second (default: 20)")
    parser.add_argument("--keep", type=Path, help="copy the databases and what was noted there, if something is wrong")
    options = parser.parse_args()
    programs = [*options.earlier, options.program]
    # In a short run clocks are less wrong, so that some writes come certainly after others.
    skew = SKEW if options.kills else min(SKEW, int(options.seconds / 8))
    chaos = Chaos(WORK, programs, options.seed, options.rate, skew)
    chaos.run(options.seconds, options.kills)
    chaos.heal()
    chaos.check()
    print(", ".join(f"{count} {what}" for what, count in chaos.counts.items()))
    for sentence in chaos.violations[:20]:
        print(f"error: {sentence}")
    if chaos.violations and options.keep:
        for machine in chaos.machines:
            machine.keep(options.keep)
    print(f"{len(chaos.violations)} violations")
    return 1 if chaos.violations else 0


if __name__ == "__main__":
    sys.exit(main())
