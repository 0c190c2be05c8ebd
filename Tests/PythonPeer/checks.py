"""What a machine must do in whole sessions, seen from outside: only by what goes over the wire.

Machines of the kit's own look at what the tried one kept: it passes records on, and equal digests prove the rest.
"""

import shutil
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass

from kit import Kit, NotTried
from machines import copy_of, equal, eventually, moved, next_millisecond, pair, restore
from probe import CALLER, LISTENER
from samples import GAME, ODD_VALUES, PERSON, PICTURE
from scorebook_python_peer import values
from scorebook_python_peer.records import Stamp, State, Write
from scorebook_python_peer.store import Store, wall_clock

MATCH = "SBMatch|~|0192f0c1-7a51-7cc2-9a5e-6d1b7a52e1b6"


@dataclass(frozen=True)
class Check:
    """One thing that is tried. `role` is the one that the kit plays."""

    section: str
    role: str
    name: str
    run: Callable[[Kit], None]


PAIRING: list[Check] = []
"""What comes first: without it there is nothing to try."""
CALLS: list[Check] = []
IS_CALLED: list[Check] = []
AT_LAST: list[Check] = []
"""What comes behind the cases that break the rules."""


def check(into: list[Check], section: str, name: str) -> Callable[[Callable], Callable]:
    def add(run: Callable[[Kit], None]) -> Callable[[Kit], None]:
        into.append(Check(section, LISTENER if into is IS_CALLED else CALLER, name, run))
        return run

    return add


def _other(code: str) -> str:
    return ("1" if code[0] != "1" else "2") + code[1:]


def nothing_moves(kit: Kit) -> None:
    equal(moved(kit.call(kit.first)), (0, 0, 0))


def both_have(kit: Kit, record: str, field: str, value: object) -> None:
    """The tried machine passes on what it has, and says by its digest that it has nothing else."""
    kit.call(kit.second)
    kit.call(kit.first)
    for machine in (kit.first, kit.second):
        equal(machine.fields(record)[field], value)
    equal(kit.first.digest(), kit.second.digest())


# Pairing, and the first sessions


@check(PAIRING, "4.4", "a wrong code is answered by error 6")
def wrong_code(kit: Kit) -> None:
    said = kit.first.fails("connect", kit.address, "--once", "--code", _other(kit.code))
    assert "error 6" in said, said


@check(PAIRING, "4.4", "the right code pairs, and the two come to be in sync")
def right_code(kit: Kit) -> None:
    assert "paired with" in kit.call(kit.first, "--code", kit.code)
    kit.name = kit.first.run("peers").rpartition(" ")[0]


@check(PAIRING, "4.2", "a code pairs one machine")
def code_is_void(kit: Kit) -> None:
    said = kit.third.fails("connect", kit.address, "--once", "--code", kit.code)
    assert "error 5" in said, said


@check(CALLS, "7.2", "a second session moves nothing")
def second_session(kit: Kit) -> None:
    nothing_moves(kit)


@check(CALLS, "7.13", "a machine that a member introduces is no stranger")
def introduced(kit: Kit) -> None:
    pair(kit.second, kit.first)
    kit.call(kit.first)
    kit.call(kit.second)
    equal(kit.second.digest(), kit.first.digest())


# Records


@check(CALLS, "7.5", "a record that one machine writes comes to the next")
def passed_on(kit: Kit) -> None:
    kit.first.run("put", GAME, "name=text:Catan", "year=integer:1995", "thumbnail=null:")
    equal(moved(kit.call(kit.first))[:2], (1, 0))
    equal(moved(kit.call(kit.second))[:2], (0, 1))
    both_have(kit, GAME, "name", "Catan")
    nothing_moves(kit)


@check(CALLS, "6.3", "every kind of value comes through, in known and unknown fields and types")
def every_value(kit: Kit) -> None:
    names = []
    for number, value in enumerate(ODD_VALUES):
        suffix = f"0192f0c1-7a51-7cc2-9a5e-{number:012x}"
        names += [f"SBGame|~|{suffix}", f"Unknown|~|{suffix.upper()}"]
        kit.first.run("put", names[-2], *(f"{field}={value}" for field in ("name", "year", "unknown")))
        kit.first.run("put", names[-1], f"anything={value}")
    kit.call(kit.first)
    kit.call(kit.second)
    for name in names:
        equal(kit.second.record(name), kit.first.record(name))
    equal(kit.second.digest(), kit.first.digest())


@check(CALLS, "9.1", "the later write of a field wins, whichever comes first")
def later_wins(kit: Kit) -> None:
    for earlier, later in ((kit.first, kit.second), (kit.second, kit.first)):
        earlier.run("put", GAME, f"name=text:of {earlier.name}", f"year=integer:{len(earlier.name)}")
        next_millisecond()
        later.run("put", GAME, f"name=text:of {later.name}")
        kit.call(kit.first)
        both_have(kit, GAME, "name", f"of {later.name}")
        equal(int(later.fields(GAME)["year"]), len(earlier.name))


@check(CALLS, "9.1", "of two values under one stamp the greater bytes win, whichever come first")
def equal_stamps(kit: Kit) -> None:
    for number, (one, other) in enumerate((("a", "b"), ("b", "a"))):
        name = f"SBGame|~|0192f0c1-7a51-7cc2-9a5e-00000000010{number}"
        stamp = Stamp(wall_clock() << 16, 7)
        for machine, value in ((kit.first, one), (kit.second, other)):
            store = Store(machine.store)
            store.merge_local([(name, State({"name": Write(values.parse("text", value), stamp)}))])
            store.close()
        kit.call(kit.first)
        both_have(kit, name, "name", "b")


@check(CALLS, "6.4", "a deletion goes on, and a later write brings the record back")
def deleted_and_back(kit: Kit) -> None:
    kit.first.run("put", GAME, "name=text:Before")
    kit.call(kit.first)
    kit.call(kit.second)
    kit.first.run("delete", GAME)
    kit.call(kit.first)
    kit.call(kit.second)
    equal(kit.second.record(GAME)["state"], "deleted")
    next_millisecond()
    kit.second.run("put", GAME, "name=text:After")
    kit.call(kit.second)
    both_have(kit, GAME, "name", "After")
    equal(kit.first.record(GAME)["state"], "live")


@check(CALLS, "6.4", "a deletion for ever leaves nothing of the record")
def erased(kit: Kit) -> None:
    kit.first.run("put", PERSON, "firstName=text:Ada")
    kit.call(kit.first)
    kit.call(kit.second)
    kit.first.run("delete", PERSON, "--for-ever")
    kit.call(kit.first)
    kit.call(kit.second)
    equal(kit.second.record(PERSON), {"state": "deleted", "fields": {}})
    equal(kit.second.digest(), kit.first.digest())


@check(CALLS, "9.2", "a record whose parent nobody has comes through whole")
def held(kit: Kit) -> None:
    kit.first.run("put", MATCH, "game=reference:SBGame|~|0192f0c1-7a51-7cc2-9a5e-6d1b7a52ffff", "notes=text:held")
    kit.call(kit.first)
    both_have(kit, MATCH, "notes", "held")


# Sessions that do not go straight on


@check(CALLS, "7.10", "a comparison of everything finds two that are equal to be so")
def compared(kit: Kit) -> None:
    equal(moved(kit.call(kit.first, "--verify")), (0, 0, 1))
    nothing_moves(kit)


@check(CALLS, "7.7", "two whose digests differ compare everything, and mend what differs")
def mended(kit: Kit) -> None:
    with sqlite3.connect(kit.first.store / "store.sqlite") as database:
        database.execute("UPDATE record SET liveId = NULL, id = NULL, milliseconds = NULL WHERE number % 5 = 0")
    database.close()
    equal(moved(kit.call(kit.first))[2], 1)
    nothing_moves(kit)


@check(CALLS, "7.3", "a machine that was set back to a backup gets everything again, and loses no new write")
def set_back(kit: Kit) -> None:
    backup = copy_of(kit.first, "backup-of-first")
    kit.first.run("put", GAME, "name=text:after the backup")
    kit.call(kit.first)
    restore(kit.first, backup)
    kit.first.run("put", MATCH, "notes=text:written after the backup came back")
    kit.call(kit.first)
    both_have(kit, GAME, "name", "after the backup")
    both_have(kit, MATCH, "notes", "written after the backup came back")


@check(CALLS, "7.4", "a copy that is cut again and again goes on, and comes to its end")
def cut(kit: Kit) -> None:
    before = copy_of(kit.second, "backup-of-second")
    store = Store(kit.first.store)
    stamp = Stamp(wall_clock() << 16, store.replica)
    for begin in range(0, 6000, 1000):
        store.merge_local([
            (f"Many|~|{n:08x}-1b7a-4c46-84a7-419a0fe1bcd0", State({"n": Write(values.parse("integer", str(n)), stamp)}))
            for n in range(begin, begin + 1000)
        ])  # fmt: skip
    store.close()
    calling = kit.first.start("connect", kit.address, "--once", "--trace")
    calling.wait_for("<- Acknowledge")
    calling.kill()
    # It may still be busy with what came.
    eventually(lambda: kit.call(kit.first))
    restore(kit.second, before)
    for _ in range(2):
        calling = kit.second.start("connect", kit.address, "--once", "--trace")
        calling.wait_for("<- BatchMessage")
        calling.kill()
    eventually(lambda: kit.call(kit.second))
    equal(kit.second.digest(), kit.first.digest())


@check(CALLS, "7.8", "whoever stays connected hears of a change at once")
def stays_connected(kit: Kit) -> None:
    with kit.first.start("connect", kit.address, "--name", kit.first.name) as calling:
        calling.wait_for("in sync")
        for number in range(3):
            kit.second.run("put", GAME, f"name=text:live {number}")
            kit.call(kit.second)
            eventually(lambda: kit.first.fields(GAME)["name"] == f"live {number}")


@check(CALLS, "7.11", "a file comes along with its record, and goes on to the next machine")
def file(kit: Kit) -> None:
    picture = kit.directory / "box.png"
    picture.write_bytes(PICTURE)
    kit.first.run("put", GAME, f"thumbnail=asset:{picture}")
    kit.call(kit.first)
    shutil.rmtree(kit.second.store / "assets", ignore_errors=True)
    kit.call(kit.second)
    equal([path.read_bytes() for path in (kit.second.store / "assets").iterdir()], [PICTURE])


@check(CALLS, "7.12", "a zone that is offered is taken up, and holds the same on both")
def zone(kit: Kit) -> None:
    kit.first.run("zone", "club")
    kit.first.run("put", "SBGame|~|0192f0c1-7a51-7cc2-9a5e-6d1b7a52e1c0", "name=text:Hearts", "--zone", "club")
    kit.first.run("zone", "club", "--grant", kit.name, "write")
    said = kit.call(kit.first)
    assert "in sync: club, 1 records" in said, said


# The kit listens


@check(IS_CALLED, "4.4", "it pairs by a code that is typed there, and the two come to be in sync")
def pairs_as_caller(kit: Kit) -> None:
    with kit.listen(kit.third, "--pair") as listening:
        code = listening.code()
        if kit.has_hook:
            kit.hook.do("connect", listening.address, code)
        else:
            print(f"Connect the other machine to {listening.address} with the code {code}.", file=sys.stderr, flush=True)
            try:
                listening.running.wait_for("paired with")
            except AssertionError:
                raise NotTried("nothing has connected") from None
            listening.running.wait_for("session ended|in sync")
    kit.call(kit.first)
    equal(kit.third.digest(), kit.first.digest())


@check(IS_CALLED, "4.4", "it introduces nobody who gives it a zone only")
def host_of_a_zone(kit: Kit) -> None:
    kit.host.run("zone", "attic")
    with kit.listen(kit.host, "--pair", "--zone", "attic") as listening:
        kit.hook.do("connect", listening.address, listening.code())
    kit.call(kit.first)
    assert kit.host.name not in kit.first.run("peers"), "it brought the machine into its household"


@check(IS_CALLED, "7.2", "its second session moves nothing")
def calls_again(kit: Kit) -> None:
    with kit.listen(kit.first) as listening:
        kit.hook.do("connect", listening.address)
        equal(moved(listening.running.wait_for("session ended: (.*)")), (0, 0, 0))


@check(IS_CALLED, "7.4", "a record that its program writes comes here")
def its_write(kit: Kit) -> None:
    kit.hook.do("put", GAME, "name=text:Written there", "year=integer:2001")
    with kit.listen(kit.first) as listening:
        kit.hook.do("connect", listening.address)
    both_have(kit, GAME, "name", "Written there")


@check(IS_CALLED, "9.1", "a later write there wins, and an earlier one does not")
def its_later_write(kit: Kit) -> None:
    kit.first.run("put", GAME, "name=text:earlier, here", "year=integer:1")
    next_millisecond()
    kit.hook.do("put", GAME, "name=text:later, there")
    next_millisecond()
    kit.first.run("put", GAME, "year=integer:3")
    with kit.listen(kit.first) as listening:
        kit.hook.do("connect", listening.address)
    both_have(kit, GAME, "name", "later, there")
    equal(int(kit.first.fields(GAME)["year"]), 3)


@check(IS_CALLED, "6.4", "a record that its program deletes is deleted here")
def its_deletion(kit: Kit) -> None:
    kit.hook.do("delete", GAME)
    with kit.listen(kit.first) as listening:
        kit.hook.do("connect", listening.address)
    equal(kit.first.record(GAME)["state"], "deleted")
    kit.call(kit.second)
    equal(kit.second.digest(), kit.first.digest())


# Behind the cases that break the rules


@check(AT_LAST, "7.3", "after all that the two come to be in sync again")
def in_sync_again(kit: Kit) -> None:
    kit.call(kit.first)
    kit.call(kit.second)
    equal(kit.second.digest(), kit.first.digest())
    nothing_moves(kit)


@check(AT_LAST, "7.13", "a machine that a member removes is refused by error 24")
def removed(kit: Kit) -> None:
    kit.first.run("peers", "--forget", kit.second.name, "--everywhere")
    kit.call(kit.first)
    said = kit.second.fails("connect", kit.address, "--once")
    assert "error 24" in said, said
