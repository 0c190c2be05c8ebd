"""Runs this peer against scorebook-peer, in scenarios of which each has stores of its own: what conformance.py cannot see.

Prints a line for each scenario; exit 1 if any fails.
"""

import argparse
import json
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
import uuid
from dataclasses import replace
from pathlib import Path

import mailbox_scenarios  # noqa: F401 - its scenarios join the list
from machines import (
    Machine,
    Python,
    copy_of,
    equal,
    eventually,
    give_up,
    moved,
    next_millisecond,
    pair,
    restore,
    sync,
)  # fmt: skip
from reference import SCENARIOS, Reference, imported, scenario
from samples import GAME, ODD_VALUES, PERSON, PICTURE
from scorebook_python_peer.messages import ZONES_LIMIT
from scorebook_python_peer.names import ZoneID
from scorebook_python_peer.store import Store
from scorebook_python_peer.values import asset, asset_of


@scenario
def pairing_wrong_code(directory: Path) -> None:
    python, reference = Python(directory, "python"), Reference(directory, "reference")
    for caller, listener in ((python, reference), (reference, python)):
        with listener.listen("--pair") as listening:
            code = listening.code()
            wrong = ("1" if code[0] != "1" else "2") + code[1:]
            for _ in range(3):
                caller.fails("connect", listening.address, "--once", "--code", wrong)
            caller.fails("connect", listening.address, "--once", "--code", code)
            caller.fails("connect", listening.address, "--once")
    with reference.listen() as listening:
        assert "not paired" in python.fails("connect", listening.address, "--once")


@scenario
def pairing_again(directory: Path) -> None:
    python, reference = Python(directory, "python"), Reference(directory, "reference")
    pair(python, reference)
    reference.run("peers", "forget", "python")
    with reference.listen() as listening:
        assert "error 4" in python.fails("connect", listening.address, "--once")
    pair(python, reference)
    python.run("peers", "--forget", "reference")
    pair(reference, python)
    sync(reference, python)


@scenario
def first_sync_python_calls(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference", whole=True)
    equal(moved(pair(python, reference))[1:], (3007, 0))


@scenario
def first_sync_reference_calls(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference", whole=True)
    assert "3,007 records" in pair(reference, python, "--verbose")


@scenario
def python_passes_on(directory: Path) -> None:
    first, python, second = imported(directory, "first", whole=True), Python(directory, "python"), Reference(directory, "second")
    pair(python, first)
    equal(moved(pair(python, second))[0], 3007)
    equal(first.digest(), second.digest())
    equal(json.loads(second.run("status", "--json"))["held"], 0)


@scenario
def writes_of_python(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(python, reference)
    python.run("put", GAME, "name=text:Catan", "year=integer:1995", "noPoints=integer:0", "thumbnail=null:")
    equal(moved(sync(python, reference))[:2], (1, 0))
    equal(reference.fields(GAME)["name"], "Catan")
    python.run("put", GAME, "year=integer:1996")
    sync(reference, python)
    equal(int(reference.fields(GAME)["year"]), 1996)
    python.run("delete", GAME)
    equal(moved(sync(python, reference))[:2], (1, 0))
    assert GAME not in reference.names("SBGame")
    assert "live" not in python.record(GAME)["state"]


@scenario
def writes_of_reference(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(python, reference)
    game = reference.names("SBGame")[0]
    reference.sql(f"UPDATE SBGame SET name = 'Changed', year = NULL WHERE recordName = '{game}'")
    equal(moved(sync(python, reference))[:2], (0, 1))
    equal(python.fields(game)["name"], "Changed")
    equal(python.record(game)["fields"]["year"], {"null": None})
    reference.run("record", "delete", game, "--yes")
    sync(reference, python)
    equal(python.record(game)["state"], "deleted")


@scenario
def cascade_of_a_deletion(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(python, reference)
    match = reference.names("SBMatch")[0]
    players = [
        n
        for n, r in json.loads(python.run("show", "--json")).items()
        if r["fields"].get("match") == {"reference": match}
    ]
    assert players
    python.run("delete", match)
    # One change of one record; what is hidden by it follows everywhere, and is not sent.
    equal(moved(sync(python, reference))[:2], (1, 0))
    assert match not in reference.names("SBMatch")
    assert not set(players) & set(reference.names("SBPlayer"))
    for player in players:
        equal(python.record(player)["state"], "live")
    equal(reference.digest(), python.digest())


@scenario
def restoring_and_erasing(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(python, reference)
    match = reference.names("SBMatch")[0]
    before = {kind: reference.names(kind) for kind in ("SBMatch", "SBPlayer", "SBScore")}
    fields = reference.fields(match)
    reference.run("record", "delete", match, "--yes")
    sync(reference, python)
    assert len(reference.names("SBPlayer")) < len(before["SBPlayer"])
    python.run("restore", match)
    sync(python, reference)
    equal({kind: reference.names(kind) for kind in before}, before)
    equal(reference.fields(match), fields)
    equal(python.record(match)["state"], "live")
    python.run("delete", match, "--for-ever")
    sync(python, reference)
    assert match not in reference.names("SBMatch")
    # A newer record below does not bring it back, but whoever writes it anew does.
    place = "SBMatchLocation|~|0192f0c1-7a51-7cc2-9a5e-6d1b7a52e1b8"
    python.run("put", place, f"match=reference:{match}", "name=text:newer", "latitude=null:", "longitude=null:")
    sync(python, reference)
    assert match not in reference.names("SBMatch") and place not in reference.names("SBMatchLocation")
    equal(python.record(match)["state"], "deleted")
    python.run("put", match, f"game=reference:{fields['game']}", "notes=text:written anew")
    sync(python, reference)
    assert match in reference.names("SBMatch") and place in reference.names("SBMatchLocation")
    equal(reference.fields(match)["notes"], "written anew")
    assert reference.fields(match).get("date") is None


@scenario
def conflicts(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(python, reference)
    one, two, three, four = reference.names("SBGame")[:4]
    python.run("put", one, "name=text:older", "year=integer:2001")
    reference.run("record", "delete", two, "--yes")
    python.run("delete", three)
    reference.sql(f"UPDATE SBGame SET name = 'older' WHERE recordName = '{four}'")
    reference.run("status")
    next_millisecond()
    reference.sql(f"UPDATE SBGame SET name = 'newer' WHERE recordName = '{one}'")
    python.run("put", two, "name=text:kept alive")
    reference.sql(f"UPDATE SBGame SET name = 'kept alive' WHERE recordName = '{three}'")
    python.run("delete", four)
    sync(python, reference)
    for machine in (python, reference):
        equal(machine.fields(one)["name"], "newer")
        equal(int(machine.fields(one)["year"]), 2001)
        equal(machine.fields(two)["name"], "kept alive")
        equal(machine.fields(three)["name"], "kept alive")
    assert four not in reference.names("SBGame")
    equal(python.record(two)["state"], "live")


@scenario
def revival_of_a_parent(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(python, reference)
    match = reference.names("SBMatch")[0]
    place = next(
        n for n, r in json.loads(python.run("show", "--json")).items()
        if n.startswith("SBMatchLocation") and r["fields"]["match"] == {"reference": match}
    )  # fmt: skip
    reference.run("record", "delete", match, "--yes")
    next_millisecond()
    python.run("put", place, "name=text:somewhere else")
    sync(reference, python)
    equal(python.record(match)["state"], "live")
    equal(python.fields(place)["name"], "somewhere else")


def _both_have_data(directory: Path, *, whole: bool = False) -> tuple[Python, Reference, str, str]:
    """A peer and a reference that have met others but not each other, and differ a little."""
    first, python, reference = (
        imported(directory, "first", whole=whole),
        Python(directory, "python"),
        imported(directory, "reference", whole=whole),
    )
    pair(python, first)
    own, gone, changed = reference.names("SBGame")[:3]
    python.run("put", GAME, "name=text:Only in Python")
    reference.run("game", "add", "Only in the reference")
    reference.sql(f"UPDATE SBGame SET name = 'Changed there' WHERE recordName = '{own}'")
    python.run("put", changed, "name=text:Changed here")
    unused = reference.run("person", "add", "Nobody")
    assert unused
    reference.run("record", "delete", gone, "--yes")
    return python, reference, gone, changed


@scenario
def reconciliation_python_calls(directory: Path) -> None:
    python, reference, gone, changed = _both_have_data(directory, whole=True)
    sent, received, reconciled = moved(pair(python, reference, "--merge"))
    equal(reconciled, 1)
    assert sent < 100 and received < 200, (sent, received)
    equal(reference.fields(changed)["name"], "Changed here")
    equal(python.record(gone)["state"], "deleted")
    equal(moved(sync(python, reference)), (0, 0, 0))


@scenario
def reconciliation_reference_calls(directory: Path) -> None:
    python, reference, gone, changed = _both_have_data(directory, whole=True)
    pair(reference, python, "--merge")
    equal(reference.fields(changed)["name"], "Changed here")
    equal(python.record(gone)["state"], "deleted")
    equal(moved(sync(python, reference)), (0, 0, 0))


@scenario
def different_scorebooks(directory: Path) -> None:
    python, reference, _, _ = _both_have_data(directory)
    with reference.listen("--pair") as listening:
        python.fails("connect", listening.address, "--once", "--code", listening.code())
    with python.listen() as listening:
        reference.fails("connect", listening.address, "--once")


@scenario
def verify_by_reference(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(python, reference)
    with python.listen() as listening:
        output = reference.run("verify", listening.address)
    assert output
    equal(moved(sync(python, reference)), (0, 0, 0))


@scenario
def resumption(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(python, reference)
    equal(moved(sync(python, reference)), (0, 0, 0))
    equal(json.loads(reference.run("status", "--json"))["pending"], 0)
    reference.run("game", "add", "One")
    python.run("put", GAME, "name=text:Two")
    python.run("put", PERSON, "firstName=text:Ada")
    equal(moved(sync(python, reference)), (2, 1, 0))
    equal(moved(sync(python, reference)), (0, 0, 0))


@scenario
def live_python_listens(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(reference, python)
    with python.listen() as listening, reference.start("connect", listening.address) as calling:
        calling.wait_for("in sync")
        _changes_arrive(python, reference)


@scenario
def live_reference_listens(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(python, reference)
    with reference.listen() as listening, python.start("connect", listening.address) as calling:
        calling.wait_for("in sync")
        python.run("zone", "attic")  # for nobody, so it changes nothing between the two
        _changes_arrive(python, reference)
        calling.stop()
        equal(calling.process.returncode, 0)


def _changes_arrive(python: Python, reference: Reference) -> None:
    for number in range(3):
        python.run("put", GAME, f"name=text:live {number}")
        eventually(lambda: reference.fields(GAME)["name"] == f"live {number}")
        reference.sql(f"UPDATE SBGame SET name = 'back {number}' WHERE recordName = '{GAME}'")
        eventually(lambda: python.fields(GAME)["name"] == f"back {number}")
    eventually(lambda: python.digest() == reference.digest())


@scenario
def two_pythons(directory: Path) -> None:
    first, python, other = imported(directory, "first"), Python(directory, "python"), Python(directory, "other")
    pair(python, first)
    pair(other, python)
    other.run("put", GAME, "name=text:Far away")
    python.run("delete", first.names("SBGame")[0])
    equal(moved(sync(python, other)), (1, 1, 0))
    equal(moved(sync(other, python, "--verify")), (0, 0, 1))
    sync(first, python)
    equal(first.fields(GAME)["name"], "Far away")


@scenario
def clock_skew(directory: Path) -> None:
    python, reference = Python(directory, "python"), Reference(directory, "reference")
    pair(python, reference)
    ahead = (time.time_ns() // 1_000_000 + 3_600_000) << 16
    with sqlite3.connect(python.store / "store.sqlite") as database:
        database.execute("INSERT OR REPLACE INTO setting VALUES ('clock', ?)", (ahead.to_bytes(8, "big"),))
    database.close()
    python.run("put", GAME, "name=text:from the future")
    with reference.listen() as listening:
        assert "error 8" in python.fails("connect", listening.address, "--once")
    with reference.listen("--allowed-skew", "7200") as listening:
        python.connect(listening.address)
    other = Python(directory, "other")
    with reference.listen("--pair") as listening:
        assert "by the clock" in other.fails("connect", listening.address, "--once", "--code", listening.code())


# In how many sessions a copy is cut right after its first batch.
CUTS = 4


@scenario
def asset_of_reference(directory: Path) -> None:
    python, reference = Python(directory, "python"), Reference(directory, "reference")
    picture = directory / "box.png"
    picture.write_bytes(PICTURE)
    reference.run("game", "add", "Pictured", "--thumbnail", str(picture))
    pair(python, reference)
    files = list((python.store / "assets").iterdir())
    equal([file.read_bytes() for file in files], [PICTURE])


@scenario
def asset_of_python(directory: Path) -> None:
    python, reference = Python(directory, "python"), Reference(directory, "reference")
    picture = directory / "box.png"
    picture.write_bytes(PICTURE)
    python.run("put", GAME, "name=text:Pictured", f"thumbnail=asset:{picture}")
    pair(python, reference)
    saved = directory / "saved"
    saved.mkdir()
    reference.run("image", "save", GAME, "--to", str(saved))
    equal([path.read_bytes() for path in saved.iterdir()], [PICTURE])


@scenario
def asset_missing_then_there(directory: Path) -> None:
    python, reference = Python(directory, "python"), Reference(directory, "reference")
    picture = directory / "box.png"
    picture.write_bytes(PICTURE)
    python.run("put", GAME, "name=text:Pictured", f"thumbnail=asset:{picture}")
    (kept,) = (python.store / "assets").iterdir()
    content = kept.read_bytes()
    kept.unlink()
    pair(reference, python)
    equal(json.loads(reference.run("status", "--json"))["assets"]["missing"], 1)
    with python.listen("--trace") as listening, reference.start("connect", listening.address) as calling:
        calling.wait_for("in sync")
        listening.running.wait_for("<- AssetsWanted")
        # The peer looks for the file all the time, and throws away one that is half written.
        whole = directory / "whole"
        whole.write_bytes(content)
        whole.replace(kept)
        eventually(lambda: json.loads(reference.run("status", "--json"))["assets"]["missing"] == 0)


@scenario
def asset_that_is_too_short(directory: Path) -> None:
    """A record says a greater size than the file has. The file is there, so nobody says later that it has come."""
    python, reference = Python(directory, "python"), Reference(directory, "reference")
    picture = directory / "box.png"
    picture.write_bytes(PICTURE)
    python.run("put", GAME, "name=text:Pictured", f"thumbnail=asset:{picture}")
    store = Store(python.store)
    kept = asset_of(store.state(GAME).fields["thumbnail"].value)
    store.put(GAME, {"thumbnail": asset(replace(kept, size=kept.size + 1000))})
    store.close()
    pair(reference, python)
    with python.listen("--trace") as listening, reference.start("connect", listening.address):
        listening.running.wait_for("<- AssetRequest")
        for name in ("first", "second", "third"):
            python.run("put", GAME, f"name=text:{name}")
            eventually(lambda: reference.fields(GAME)["name"] == name)
        listening.running.wait_for("-> BatchMessage.*third")
        assert "AssetsAvailable" not in listening.running.output, listening.running.output
    equal(json.loads(reference.run("status", "--json"))["assets"]["missing"], 1)


@scenario
def asset_from_two_sides(directory: Path) -> None:
    """Two references give one file to a Python at a time, and it passes it on."""
    python, first, second = Python(directory, "python"), Reference(directory, "first"), Reference(directory, "second")
    picture = directory / "box.png"
    picture.write_bytes(PICTURE)
    first.run("game", "add", "Pictured", "--thumbnail", str(picture))
    pair(second, python)
    pair(second, first, "--merge")
    with python.listen("--pair") as listening:
        with second.start("connect", listening.address) as one:
            one.wait_for("in sync")
            first.connect(listening.address, "--code", listening.code())
            eventually(lambda: [f.read_bytes() for f in (python.store / "assets").iterdir()] == [PICTURE])
    third = Reference(directory, "third")
    pair(third, python)
    equal(json.loads(third.run("status", "--json"))["assets"]["missing"], 0)


@scenario
def another_zone(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(python, reference)
    (main,) = json.loads(python.run("digest", "--json"))
    reference.run("zone", "create", "club")
    reference.run("game", "add", "Hearts", "--zone", "club")
    reference.run("peers", "grant", "python", "club", "write")
    sync(python, reference)
    zones = json.loads(python.run("digest", "--json"))
    equal([(zone["zone"], zone["count"]) for zone in zones], [("ScorebookData", main["count"]), ("club", 1)])
    python.run("put", GAME, "name=text:Spades", "--zone", "club")
    sync(reference, python)
    assert GAME in reference.run("record", "list", "--zone", "club")
    _same_zones(python, reference)


@scenario
def zone_of_python(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(reference, python)
    python.run("zone", "club")
    python.run("put", GAME, "name=text:Spades", "--zone", "club")
    python.run("zone", "club", "--grant", "reference", "write")
    sync(reference, python)
    assert GAME in reference.run("record", "list", "--zone", "club")
    reference.sql(f"UPDATE SBGame SET name = 'Hearts' WHERE recordName = '{GAME}'")
    sync(python, reference)
    equal(python.fields(GAME)["name"], "Hearts")
    _same_zones(python, reference)


def _same_zones(python: Python, reference: Reference) -> None:
    theirs = {zone["name"]: zone["digest"] for zone in json.loads(reference.run("status", "--json"))["zones"]}
    equal({zone["zone"]: zone["digest"] for zone in json.loads(python.run("digest", "--json"))}, theirs)


@scenario
def python_may_only_read(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(python, reference)
    reference.run("peers", "grant", "python", "ScorebookData", "read")
    python.run("put", GAME, "name=text:Not wanted")
    with reference.listen() as listening:
        equal(moved(python.connect(listening.address))[0], 1)
        equal(moved(python.connect(listening.address))[0], 0)
    assert GAME not in reference.names("SBGame")
    reference.run("peers", "grant", "python", "ScorebookData", "write")
    sync(python, reference)
    equal(reference.fields(GAME)["name"], "Not wanted")


@scenario
def reference_may_only_read(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(python, reference)
    python.run("zone", "ScorebookData", "--grant", "reference", "read")
    reference.run("game", "add", "Not wanted")
    with python.listen() as listening:
        reference.connect(listening.address)
        reference.connect(listening.address)
    equal(len(json.loads(reference.run("status", "--json"))["refused"]), 1)
    python.run("zone", "ScorebookData", "--grant", "reference", "write")
    sync(reference, python)




@scenario
def odd_values(directory: Path) -> None:
    """Any kind of value in any field, unknown fields and types: digests stay equal, also after a restart."""
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(python, reference)
    for number, value in enumerate(ODD_VALUES):
        suffix = f"0192f0c1-7a51-7cc2-9a5e-{number:012x}"
        fields = [f"{field}={value}" for field in ("name", "year", "thumbnail", "unknown")]
        python.run("put", f"SBGame|~|{suffix}", *fields)
        python.run("put", f"SBMatch|~|{suffix}", f"game={value}", f"date={value}", f"rating={value}", f"notes={value}")
        python.run("put", f"SBMatchLocation|~|{suffix}", f"match={value}", f"latitude={value}", f"name={value}")
        python.run("put", f"Unknown|~|{suffix.upper()}", f"anything={value}")
    sync(python, reference)
    sync(reference, python)
    with python.listen() as listening:
        assert "no record differed" in reference.run("verify", listening.address)
    reference.run("status", "--check")
    second = Reference(directory, "second")
    pair(second, reference)
    equal(second.digest(), python.digest())


@scenario
def many_batches(directory: Path) -> None:
    python, reference = Python(directory, "python"), Reference(directory, "reference")
    many_games(reference, 12_000)
    pair(python, reference)
    second = Reference(directory, "second")
    equal(moved(pair(python, second))[0], 12_000)


def many_games(reference: Reference, number: int) -> None:
    """So many games, in groups of 1000."""
    reference.run("status") if reference.store.exists() else reference.run("peers")
    for begin in range(0, number, 1000):
        with sqlite3.connect(reference.store / "scorebook.sqlite", timeout=30) as database:
            database.executemany(
                "INSERT INTO SBGame (recordName, name, year) VALUES (?, ?, ?)",
                [(f"SBGame|~|{uuid.uuid4()}", f"Game {n}", n) for n in range(begin, begin + 1000)],
            )
        database.close()
        reference.run("status")


@scenario
def cut_copies(directory: Path) -> None:
    """A first sync is cut again and again, from either side, and comes to its end."""
    python, reference = Python(directory, "python"), Reference(directory, "reference")
    reference.run("game", "add", "One")
    pair(python, reference)
    many_games(reference, 20_000)
    with reference.listen() as listening:
        for _ in range(CUTS):
            calling = python.start("connect", listening.address, "--trace")
            calling.wait_for("<- BatchMessage")
            calling.kill()
    sync(python, reference)
    second = Reference(directory, "second")
    with python.listen("--pair", "--trace") as listening:
        code = listening.code()
        second.fails("connect", listening.address, "--once", "--code", "000-000")
        listening.running.wait_for("^(error|session ended)")
        for pairing in [["--code", code]] + [[]] * (CUTS - 1):
            calling = second.start("connect", listening.address, *pairing)
            listening.running.wait_for("-> BatchMessage")
            calling.kill()
            listening.running.wait_for("^(error|session ended)")
    sync(second, python)


@scenario
def restored_reference(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(python, reference)
    reference.run("game", "add", "Before")
    sync(python, reference)
    backup = copy_of(reference, "backup")
    reference.run("game", "add", "After")
    python.run("put", GAME, "name=text:After")
    sync(python, reference)
    restore(reference, backup)
    reference.run("game", "add", "Another")
    sync(python, reference)
    sync(reference, python)
    equal(reference.fields(GAME)["name"], "After")
    equal(len(reference.names("SBGame")), 44)


@scenario
def restored_python(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(python, reference)
    backup = copy_of(python, "backup")
    reference.run("game", "add", "After")
    python.run("put", GAME, "name=text:After")
    sync(reference, python)
    restore(python, backup)
    python.run("put", PERSON, "firstName=text:Ada")
    sync(reference, python)
    sync(python, reference)
    equal(python.fields(GAME)["name"], "After")
    equal(reference.fields(PERSON)["firstName"], "Ada")


@scenario
def beside(directory: Path) -> None:
    other, python, reference = Python(directory, "other"), Python(directory, "python"), imported(directory, "reference")
    (own,) = json.loads(reference.run("status", "--json"))["zones"]
    python.run("put", GAME, "name=text:Elsewhere")
    python.run("put", PERSON, "firstName=text:Ada")
    pair(other, python)
    with python.listen("--pair") as listening:
        reference.connect(listening.address, "--beside", "--code", listening.code())
        reference.connect(listening.address)
    zones = {zone["digest"]: zone["records"] for zone in json.loads(reference.run("status", "--json"))["zones"]}
    equal(zones, {own["digest"]: own["records"], python.digest(): 2})
    python.run("put", GAME, "name=text:In the zone beside")
    reference.sql(f"UPDATE SBPerson SET lastName = 'Lovelace' WHERE recordName = '{PERSON}'")
    with python.listen() as listening:
        reference.connect(listening.address)
    equal(reference.fields(GAME)["name"], "In the zone beside")
    equal(python.fields(PERSON)["lastName"], "Lovelace")
    with reference.listen() as listening:
        python.connect(listening.address)
    sync(other, python)


@scenario
def no_room_beside(directory: Path) -> None:
    """A caller with as many zones as a store may have does not choose beside."""
    python, reference, _, _ = _both_have_data(directory)
    store = Store(python.store)
    for number in range(1, ZONES_LIMIT):
        store.add_zone(ZoneID(f"zone {number}", store.replica), f"zone {number}")
    store.close()
    with reference.listen("--pair") as listening:
        said = python.fails("connect", listening.address, "--once", "--beside", "--code", listening.code())
    assert "at most 64 zones" in said, said


@scenario
def names_in_another_zone(directory: Path) -> None:
    """What the reference has in its own zone already is refused for reason 2, and the two are in sync but for that."""
    python, reference, _, _ = _both_have_data(directory)
    with python.listen("--pair") as listening:
        reference.connect(listening.address, "--beside", "--code", listening.code())
        reference.connect(listening.address)
    equal(len(json.loads(reference.run("status", "--json"))["zones"]), 2)


@scenario
def record_too_large(directory: Path) -> None:
    """A record above the limit stays where it was written, in both roles, and the rest goes."""
    python, reference = Python(directory, "python"), Reference(directory, "reference")
    python.run("put", GAME, "name=text:Catan")
    pair(python, reference)
    reference.sql(f"UPDATE SBGame SET name = zeroblob({9 << 20}) WHERE recordName = '{GAME}'")
    reference.run("game", "add", "Hearts")
    for caller, listener in ((python, reference), (reference, python)):
        with listener.listen() as listening:
            caller.connect(listening.address)
    equal(python.fields(GAME)["name"], "Catan")
    equal(len(json.loads(python.run("digest", "--json"))), 1)
    equal(json.loads(python.run("digest", "--json"))[0]["count"], 2)
    (unsynced,) = json.loads(reference.run("status", "--json"))["unsynced"]
    equal((unsynced["name"], unsynced["reason"]), (GAME, "size"))
    reference.sql(f"UPDATE SBGame SET name = 'Chess' WHERE recordName = '{GAME}'")
    sync(python, reference)
    equal(python.fields(GAME)["name"], "Chess")


@scenario
def reset_of_the_reference(directory: Path) -> None:
    python, reference, _, _ = _both_have_data(directory)
    before = python.digest()
    with python.listen("--pair") as listening:
        reference.connect(listening.address, "--take-theirs", "--code", listening.code())
    equal(reference.digest(), before)
    equal(python.digest(), before)
    reference.sql("DELETE FROM SBScore")
    sync(reference, python)
    python.run("put", GAME, "name=text:Kept")
    with python.listen() as listening:
        reference.run("reset", "--from", listening.address, "--yes")
    equal(reference.digest(), python.digest())
    sync(python, reference)


@scenario
def reset_of_python(directory: Path) -> None:
    python, reference, _, _ = _both_have_data(directory)
    before = reference.digest()
    with python.listen("--pair") as listening:
        reference.fails("connect", listening.address, "--once", "--take-ours", "--code", listening.code())
    with python.listen("--allow-reset") as listening:
        reference.connect(listening.address, "--take-ours")
    equal(reference.digest(), before)
    equal(python.digest(), before)
    python.run("put", GAME, "name=text:Gone again")
    with python.listen("--allow-reset") as listening:
        reference.run("reset", "--to", listening.address, "--yes")
    equal(python.digest(), before)
    sync(python, reference)
    equal(reference.digest(), before)


@scenario
def a_chain(directory: Path) -> None:
    """Two references that know only a Python between them, all connected."""
    python, first, second = Python(directory, "python"), imported(directory, "first"), Reference(directory, "second")
    pair(first, python)
    pair(second, python)
    with python.listen() as listening:
        with first.start("connect", listening.address) as one, second.start("connect", listening.address) as two:
            one.wait_for("in sync")
            two.wait_for("in sync")
            for number in range(3):
                first.run("game", "add", f"Game {number}")
                eventually(lambda: f"Game {number}" in second.run("game", "list"))
                second.run("person", "add", f"Person {number}")
                eventually(lambda: f"Person {number}" in first.run("person", "list"))
            eventually(lambda: first.digest() == second.digest() == python.digest())


@scenario
def both_call(directory: Path) -> None:
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(python, reference)
    with python.listen() as here, reference.listen("--connect", here.address) as there:
        there.running.wait_for("in sync")
        with python.start("connect", there.address) as calling:
            calling.wait_for("in sync")
            _changes_arrive(python, reference)


@scenario
def ends_of_a_session(directory: Path) -> None:
    python, reference = Python(directory, "python"), Reference(directory, "reference")
    pair(python, reference)
    with reference.listen() as listening:
        for change, says in (
            (["peers", "grant", "python", "ScorebookData", "read"], "error 21"),
            (["sync", "off"], "error 22"),
        ):
            with python.start("connect", listening.address) as calling:
                calling.wait_for("in sync")
                reference.run(*change)
                calling.wait_for(says)
        reference.run("sync", "on")
    with reference.listen() as listening, python.start("connect", listening.address) as calling:
        calling.wait_for("connected")
        reference.run("peers", "forget", "python")
        calling.wait_for("error 4")
    pair(python, reference)
    with reference.listen() as listening, python.start("connect", listening.address) as calling:
        calling.wait_for("in sync")
        python.run("peers", "--forget", "reference")
        calling.wait_for("not paired")
    pair(python, reference)
    with python.listen() as listening, reference.start("connect", listening.address) as calling:
        calling.wait_for("in sync")
        listening.running.stop()
        calling.wait_for("disconnected|ended|again")


@scenario
def hollow_records(directory: Path) -> None:
    """A deleted parent comes to both without fields, a child revives it: both hold it hollow, and agree on that."""
    writer, python, reference = (
        Python(directory, "writer"),
        Python(directory, "python"),
        imported(directory, "reference"),
    )
    pair(writer, reference)
    writer.run("put", GAME, "name=text:Never seen")
    writer.run("delete", GAME)
    sync(writer, reference)
    pair(python, reference)
    match = "SBMatch|~|0192f0c1-7a51-7cc2-9a5e-6d1b7a52e1b6"
    python.run("put", match, f"game=reference:{GAME}", "notes=text:newer than the deletion")
    sync(python, reference)
    equal(python.record(GAME)["state"], "hollow")
    equal(moved(sync(python, reference, "--verify")), (0, 0, 1))
    with python.listen() as listening:
        assert "no record differed" in reference.run("verify", listening.address)
    sync(writer, reference)
    equal(writer.record(GAME)["state"], "live")
    sync(python, reference)
    equal(reference.fields(GAME)["name"], "Never seen")


@scenario
def unions_of_python(directory: Path) -> None:
    """What a caller's user may want, wanted by this peer's."""
    python, reference, _, _ = _both_have_data(directory)
    own, theirs = python.digest(), reference.digest()
    with reference.listen("--pair") as listening:
        python.connect(listening.address, "--beside", "--code", listening.code())
        python.connect(listening.address)  # as it is now, without a word about unions
    digests = [zone["digest"] for zone in json.loads(python.run("digest", "--json"))]
    # What the zones have both is refused where it is in the other one already.
    equal((digests[0], reference.digest()), (own, theirs))
    second = Python(directory, "second")
    second.run("put", PERSON, "firstName=text:Grace")
    with reference.listen("--pair") as listening:
        second.connect(listening.address, "--take-theirs", "--code", listening.code())
    equal(second.digest(), theirs)
    third = Python(directory, "third")
    third.run("put", PERSON, "firstName=text:Grace")
    with reference.listen("--pair") as listening:
        third.fails("connect", listening.address, "--once", "--take-ours", "--code", listening.code())
    with reference.listen("--allow-reset") as listening:
        third.connect(listening.address, "--take-ours")
    equal(reference.digest(), third.digest())
    equal(reference.names("SBPerson"), [PERSON])


@scenario
def starting_over_of_python(directory: Path) -> None:
    """This peer was away until nobody remembered a deletion any more."""
    python, reference = Python(directory, "python"), imported(directory, "reference")
    pair(python, reference)
    backup = copy_of(python, "backup")
    game = reference.names("SBGame")[0]
    reference.run("record", "delete", game, "--yes")
    sync(python, reference)
    # As the reference does itself 180 days later.
    reference.sql("UPDATE grdb_sync_recordZone SET purgedSequence = (SELECT max(changeSequence) FROM grdb_sync_remoteRecord WHERE status = 1)")
    reference.sql("DELETE FROM grdb_sync_remoteRecord WHERE status = 1")
    restore(python, backup)
    python.run("put", PERSON, "firstName=text:Ada")
    with reference.listen() as listening:
        assert "error 15" in python.fails("connect", listening.address, "--once")
    sync(python, reference, "--start-over")
    assert game not in reference.names("SBGame")
    equal(reference.fields(PERSON)["firstName"], "Ada")
    sync(reference, python)


def peers_of(machine: Machine) -> set[str]:
    """The names of the paired and introduced machines."""
    if isinstance(machine, Reference):
        return {peer["name"] for peer in json.loads(machine.run("peers", "--json"))}
    return {line.split()[0] for line in machine.run("peers").splitlines() if line}


@scenario
def introductions_reach_a_third_machine(directory: Path) -> None:
    """Both programs pass on whom they were paired with; the third machine syncs without a pairing."""
    for number, kinds in enumerate(((Reference, Python, Python), (Python, Reference, Reference), (Python, Python, Reference))):
        place = directory / str(number)
        middle, one, other = (kind(place, name) for kind, name in zip(kinds, ("middle", "one", "other")))
        pair(one, middle)
        pair(other, middle)
        assert peers_of(other) == {"middle", "one"}, peers_of(other)
        sync(one, middle)
        assert peers_of(one) == {"middle", "other"}, peers_of(one)
        sync(one, other)


@scenario
def removals_reach_a_third_machine(directory: Path) -> None:
    """Whoever is removed by one is refused by all, keeps its store, and comes back by a new pairing only."""
    for number, kinds in enumerate(((Reference, Python, Python), (Python, Reference, Reference))):
        place = directory / str(number)
        middle, one, other = (kind(place, name) for kind, name in zip(kinds, ("middle", "one", "other")))
        pair(one, middle)
        pair(other, middle)
        sync(one, middle)
        if isinstance(middle, Reference):
            middle.run("peers", "forget", "other", "--everywhere", "--yes")
        else:
            middle.run("peers", "--forget", "other", "--everywhere")
        assert peers_of(one) == {"middle", "other"}, peers_of(one)
        sync(one, middle)
        assert peers_of(one) == {"middle"}, peers_of(one)
        for machine in (middle, one):
            with machine.listen() as listening:
                said = other.fails("connect", listening.address, "--once")
                assert "removed from the household" in said, said
        pair(other, one)
        sync(one, middle)
        assert peers_of(middle) == {"one", "other"}, peers_of(middle)


@scenario
def random_edits(directory: Path) -> None:
    """Four machines, random edits, moves and deletions, random syncs: all come to the same."""
    seed = int(os.environ.get("SEED", "1"))
    chance = random.Random(seed)
    machines = [
        Python(directory, "p1"),
        Reference(directory, "r1"),
        Python(directory, "p2"),
        Reference(directory, "r2"),
    ]
    for first, second in ((0, 1), (2, 1), (3, 0), (3, 2), (0, 2), (3, 1)):
        pair(machines[first], machines[second])
    names = {
        kind: [f"{kind}|~|{n:08x}-1b7a-4c46-84a7-419a0fe1bcd0" for n in range(6)]
        for kind in ("SBGame", "SBMatch", "SBMatchLocation")
    }
    parents = {"SBMatch": ("game", "SBGame"), "SBMatchLocation": ("match", "SBMatch")}
    fields = {"SBGame": "name", "SBMatch": "notes", "SBMatchLocation": "name"}
    for step in range(int(os.environ.get("STEPS", "40"))):
        machine = chance.choice(machines)
        kind = chance.choice(list(names))
        name = chance.choice(names[kind])
        delete = chance.random() < 0.25
        reference, parent = parents.get(kind, (None, None))
        target = chance.choice(names[parent]) if parent else None
        if isinstance(machine, Reference):
            if delete:
                machine.run("status")
                machine.sql(f"DELETE FROM {kind} WHERE recordName = '{name}'")
            else:
                columns = {"recordName": name, fields[kind]: f"step {step}"} | (
                    {reference: target} if reference else {}
                )
                values = ", ".join(f"'{value}'" for value in columns.values())
                updates = ", ".join(f"{c} = excluded.{c}" for c in columns if c != "recordName")
                try:
                    machine.sql(
                        f"INSERT INTO {kind} ({', '.join(columns)}) VALUES ({values})"
                        f" ON CONFLICT (recordName) DO UPDATE SET {updates}"
                    )
                except Exception as error:
                    assert "FOREIGN KEY" in str(error), error
        elif delete:
            machine._run(("delete", name))
        else:
            machine.run(
                "put",
                name,
                f"{fields[kind]}=text:step {step}",
                *([f"{reference}=reference:{target}"] if reference else []),
            )
        if chance.random() < 0.4:
            caller, listener = chance.sample(machines, 2)
            sync(caller, listener, *(["--verify"] if isinstance(caller, Python) and chance.random() < 0.3 else []))
    for _ in range(4):
        for first, second in ((0, 1), (1, 2), (3, 0), (2, 3), (1, 3), (0, 2)):
            sync(machines[first], machines[second])
        if len({machine.digest() for machine in machines}) == 1:
            break
    equal(len({machine.digest() for machine in machines}), 1)
    for machine in machines:
        if isinstance(machine, Reference):
            with machines[0].listen() as listening:
                assert "no record differed" in machine.run("verify", listening.address)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the names of the scenarios")
    parser.add_argument("--program", type=Path, help="scorebook-peer")
    parser.add_argument("--data", type=Path, help="an export of BG Stats")
    parser.add_argument("--directory", type=Path, help="where the stores go; a temporary one if it is left out")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="all if none is named")
    arguments = parser.parse_args()
    # Whoever has started this may have blocked signals, and what is started here would inherit that and never end.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.signal(signal.SIGALRM, give_up)
    known = {run.__name__: run for run in SCENARIOS}
    if arguments.list:
        print("\n".join(known))
        return 0
    if unknown := set(arguments.scenarios) - set(known):
        parser.error(f"there is no scenario {sorted(unknown)[0]}")
    if arguments.program is None or arguments.data is None:
        parser.error("--program and --data are needed")
    Reference.program, Reference.data = arguments.program.resolve(), arguments.data.resolve()
    failed = 0
    for name in arguments.scenarios or known:
        begun = time.monotonic()
        try:
            if arguments.directory:
                arguments.directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix="peers-", dir=arguments.directory) as directory:
                known[name](Path(directory))
        except Exception as error:
            failed += 1
            print(f"FAIL {name}: {error}", flush=True)
            traceback.print_exc()
        else:
            print(f"pass {name} ({time.monotonic() - begun:.1f} s)", flush=True)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
