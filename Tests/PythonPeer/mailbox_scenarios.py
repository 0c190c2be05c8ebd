"""Scenarios in which the two programs meet on the loopback once, and then only through a mailbox in a folder."""

import json
import os
import random
import sqlite3
from pathlib import Path

from machines import Machine, Python, copy_of, equal, next_millisecond, pair, restore, sync
from reference import Reference, imported, scenario
from samples import GAME, PERSON, PICTURE
from scorebook_python_peer.mailbox.head import Draft
from scorebook_python_peer.mailbox.reading import head_name
from scorebook_python_peer.mailbox.sealing import Author
from scorebook_python_peer.names import ZoneID
from scorebook_python_peer.store import Store

BOX = "box"


class Mailbox:
    """A folder that paired machines use as a mailbox."""

    def __init__(self, directory: Path, *machines: Machine) -> None:
        self.folder = directory / BOX
        self.folder.mkdir()
        self.machines = machines
        for machine in machines:
            if isinstance(machine, Reference):
                machine.run("mailbox", "add", "folder", str(self.folder))

    def sync(self, *machines: Machine, codes: tuple[int, ...] = (0,)) -> str:
        """One pass of each, in this order; gives what the last one says. Only the reference has codes."""
        said = ""
        for machine in machines:
            allowed = codes if isinstance(machine, Reference) else (0,)
            said = machine.run("mailbox", "sync", *self._place(machine), codes=allowed)
        return said

    def fails(self, machine: Machine) -> str:
        return machine.fails("mailbox", "sync", *self._place(machine))

    def check(self, machine: Machine) -> str:
        return machine.run("mailbox", "check", *self._place(machine))

    def _place(self, machine: Machine) -> list[str]:
        return [str(self.folder)] if isinstance(machine, Python) else []

    def become_one(self, *machines: Machine) -> None:
        """Two rounds: what a machine reads in the first one, it acknowledges to those before it."""
        machines = machines or self.machines
        self.sync(*machines, *machines)
        equal({machine.digest() for machine in machines}, {machines[0].digest()})
        for machine in machines:
            self.check(machine)

    def objects(self, author: str = "") -> dict[str, bytes]:
        """What lies there; of one author, its segments and pieces."""
        files = (path for path in sorted((self.folder / author).rglob("*")) if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in files}

    def heads(self, author: str) -> dict[str, bytes]:
        return {name: content for name, content in self.objects("heads").items() if f"/{author}-" in name}

    def other_author(self, *known: str) -> str:
        """The author id of the machine that is none of these."""
        authors = {name.removeprefix("heads/").partition("-")[0] for name in self.objects("heads")}
        (author,) = authors - set(known)
        return author

    def put(self, objects: dict[str, bytes]) -> None:
        for name, content in objects.items():
            (self.folder / name).write_bytes(content)

    def remove(self, names: object) -> None:
        for name in names:
            (self.folder / name).unlink()


def author_of(python: Python) -> str:
    store = Store(python.store)
    try:
        return Author(store.identity).id.hex()
    finally:
        store.close()


def zone_of(python: Python) -> ZoneID:
    store = Store(python.store)
    try:
        return store.default_zone.id
    finally:
        store.close()


def two_machines(directory: Path) -> tuple[Python, Reference, Mailbox]:
    python, reference = Python(directory, "python"), Reference(directory, "reference")
    pair(python, reference)
    return python, reference, Mailbox(directory, python, reference)


def three_machines(directory: Path) -> tuple[Python, Reference, Python, Mailbox]:
    """A household of which each has met only the second one on the loopback."""
    python, reference, other = Python(directory, "python"), Reference(directory, "reference"), Python(directory, "other")
    pair(python, reference)
    pair(other, reference)
    mailbox = Mailbox(directory, python, reference, other)
    mailbox.become_one()
    return python, reference, other, mailbox


@scenario
def mailbox_both_ways(directory: Path) -> None:
    """Each program reads a whole copy and changes of the other, and both come to rest."""
    python, reference = Python(directory, "python"), imported(directory, "reference")
    python.run("put", PERSON, "firstName=text:Ada")
    pair(python, reference)
    mailbox = Mailbox(directory, python, reference)
    mailbox.become_one()
    python.run("put", GAME, "name=text:Catan")
    mailbox.sync(python, reference)
    equal(reference.fields(GAME)["name"], "Catan")
    next_millisecond()
    reference.run("game", "edit", GAME, "--name", "Carcassonne")
    mailbox.sync(reference, python)
    equal(python.fields(GAME)["name"], "Carcassonne")
    mailbox.become_one()
    before = mailbox.objects()
    mailbox.become_one()
    equal(mailbox.objects(), before)


@scenario
def mailbox_reads_whole_logs(directory: Path) -> None:
    """Machines that have lost what they had read get all of it from the logs, from the first segment on."""
    python, reference = Python(directory, "python"), Reference(directory, "reference")
    pair(python, reference)
    empty = copy_of(python, "empty")
    mailbox = Mailbox(directory, python, reference)
    reference.run("import", str(Reference.data))
    mailbox.become_one()
    restore(python, empty)
    mailbox.become_one()
    equal(python.digest(), reference.digest())


@scenario
def mailbox_deletions(directory: Path) -> None:
    python, reference, mailbox = two_machines(directory)
    python.run("put", GAME, "name=text:Catan")
    mailbox.become_one()
    next_millisecond()
    reference.run("record", "delete", GAME, "--yes")
    mailbox.become_one()
    equal(python.record(GAME)["state"], "deleted")
    next_millisecond()
    python.run("restore", GAME)
    mailbox.become_one()
    equal(reference.fields(GAME)["name"], "Catan")
    next_millisecond()
    python.run("delete", GAME)
    mailbox.become_one()
    assert GAME not in reference.names("SBGame")


@scenario
def mailbox_pictures(directory: Path) -> None:
    """Files go both ways, in pieces, and lie there no longer than a reader may lack them."""
    python, reference, mailbox = two_machines(directory)
    picture, other = directory / "box.png", directory / "other.png"
    picture.write_bytes(PICTURE)
    other.write_bytes(PICTURE[:1000])
    python.run("put", GAME, "name=text:Pictured", f"thumbnail=asset:{picture}")
    mailbox.sync(python)
    assert sum(map(len, mailbox.objects(author_of(python)).values())) > len(PICTURE)
    mailbox.become_one()
    saved = directory / "saved"
    saved.mkdir()
    reference.run("image", "save", GAME, "--to", str(saved))
    equal([path.read_bytes() for path in saved.iterdir()], [PICTURE])
    reference.run("game", "add", "Small", "--thumbnail", str(other))
    mailbox.become_one()
    equal({file.read_bytes() for file in (python.store / "assets").iterdir()}, {PICTURE, PICTURE[:1000]})
    mailbox.become_one()
    assert sum(map(len, mailbox.objects().values())) < len(PICTURE), mailbox.objects().keys()


@scenario
def mailbox_leaving_out(directory: Path) -> None:
    """Who passes a record on that everybody reads elsewhere writes no segment; the removal of its author makes it write all."""
    python, reference, other, mailbox = three_machines(directory)
    author = mailbox.other_author(author_of(python), author_of(other))
    before = mailbox.objects(author)
    python.run("put", GAME, "name=text:Catan")
    other.run("put", PERSON, "firstName=text:Ada")
    mailbox.become_one(other, python, reference)
    equal(mailbox.objects(author), before)
    remove(reference, "other")
    mailbox.become_one(reference, python)
    late = Python(directory, "late")
    assert mailbox.objects(author).keys().isdisjoint(before)
    equal(python.fields(PERSON), {"firstName": "Ada"})
    pair(late, python)
    mailbox.become_one(reference, python, late)


def remove(machine: Machine, name: str) -> None:
    if isinstance(machine, Reference):
        machine.run("peers", "forget", name, "--everywhere", "--yes")
    else:
        machine.run("peers", "--forget", name, "--everywhere")


@scenario
def mailbox_removed_machine(directory: Path) -> None:
    """Whoever is removed opens no head that is put afterwards, and nobody reads its records."""
    python, reference, other, mailbox = three_machines(directory)
    remove(reference, "other")
    mailbox.sync(reference, python, reference, python)
    assert "other" not in python.run("peers")
    python.run("put", GAME, "name=text:Catan")
    other.run("put", PERSON, "firstName=text:Eve")
    mailbox.sync(python, reference, other, python, reference)
    equal(python.digest(), reference.digest())
    equal(reference.names("SBPerson"), [])
    assert GAME not in other.run("show")
    said = mailbox.check(other)
    equal(said.count("says nothing to this machine"), 2)


@scenario
def mailbox_truncated_objects(directory: Path) -> None:
    """What is torn is told and not used, and what comes after it waits until it is whole."""
    python, reference, mailbox = two_machines(directory)
    mailbox.become_one()
    for writer, reader in ((python, reference), (reference, python)):
        before = mailbox.objects()
        name = f"SBGame|~|of-{writer.name}"
        if isinstance(writer, Python):
            writer.run("put", name, "name=text:Torn")
        else:
            writer.run("game", "add", "Torn")
        mailbox.sync(writer)
        held = reader.digest()
        new = {name: mailbox.objects()[name] for name in mailbox.objects().keys() - before.keys()}
        for torn in sorted(new, reverse=True):  # the head, and then the segment
            mailbox.put({torn: new[torn][:-1]})
            said = mailbox.sync(reader, codes=(65,))
            if isinstance(reader, Reference):
                # It tells a reason once, and lists it as long as it holds.
                said += reader.run("mailbox", "list")
            assert "damaged" in said, said
            equal(reader.digest(), held)
            mailbox.put(new)
        mailbox.sync(reader)
        equal(reader.digest(), writer.digest())


@scenario
def mailbox_damaged_objects(directory: Path) -> None:
    """What stays damaged a reader tells its author, who puts it anew. Of its own head an author knows by itself."""
    python, reference, mailbox = two_machines(directory)
    mailbox.become_one()
    for writer, reader in ((python, reference), (reference, python)):
        for of_head in (False, True):
            before = mailbox.objects()
            name = f"SBGame|~|of-{writer.name}-{of_head}"
            writer.run(*(("put", name, "name=text:Torn") if isinstance(writer, Python) else ("game", "add", f"Torn {of_head}")))
            mailbox.sync(writer)
            new = {name: mailbox.objects()[name] for name in mailbox.objects().keys() - before.keys()}
            (torn,) = (name for name in new if name.startswith("heads/") == of_head)
            mailbox.put({torn: new[torn][:-1]})
            mailbox.sync(reader, codes=(65,))
            assert reader.digest() != writer.digest()
            mailbox.sync(writer, reader)
            equal(reader.digest(), writer.digest())
            mailbox.become_one()


@scenario
def mailbox_lost_segments(directory: Path) -> None:
    """A reader stops before a segment that is gone, and its author puts everything anew when it begins to run."""
    python, reference, mailbox = two_machines(directory)
    mailbox.become_one()
    for writer, reader in ((python, reference), (reference, python)):
        before = mailbox.objects()
        name = f"SBGame|~|of-{writer.name}"
        writer.run(*(("put", name, "name=text:Lost") if isinstance(writer, Python) else ("game", "add", "Lost")))
        mailbox.sync(writer)
        new = mailbox.objects().keys() - before.keys()
        mailbox.remove([name for name in new if not name.startswith("heads/")])
        held = reader.digest()
        mailbox.sync(reader, codes=(75,))
        equal(reader.digest(), held)
        mailbox.become_one(writer, reader)


@scenario
def mailbox_whole_logs_follow_each_other(directory: Path) -> None:
    """What a log leaves out is in the next one, and in the one after that as long as a reader has not read the next one."""
    python, reference, other, mailbox = three_machines(directory)
    fourth = Python(directory, "fourth")
    pair(fourth, reference)
    mailbox.machines += (fourth,)
    mailbox.become_one()
    before = mailbox.objects()
    other.run("put", PERSON, "firstName=text:Ada")
    mailbox.sync(other)
    new = mailbox.objects()
    late = {name: new[name] for name in new.keys() - before.keys() if not name.startswith("heads/")}
    mailbox.sync(reference, fourth, reference)
    mailbox.remove(late)
    mailbox.sync(python)
    mailbox.put(late)
    for name in ("other", "fourth"):
        remove(reference, name)
        mailbox.sync(reference)
    mailbox.become_one(python, reference)
    equal(python.fields(PERSON), {"firstName": "Ada"})


@scenario
def mailbox_that_went_back(directory: Path) -> None:
    """A head that is put back is told and not used; nothing in a store is taken back."""
    python, reference, mailbox = two_machines(directory)
    mailbox.become_one()
    for writer, reader in ((python, reference), (reference, python)):
        author = author_of(python) if writer is python else mailbox.other_author(author_of(python))
        old = mailbox.heads(author)
        writer.run(*(("put", GAME, "name=text:Catan") if writer is python else ("game", "edit", GAME, "--name", "Go")))
        mailbox.become_one()
        held, new = reader.digest(), mailbox.heads(author)
        mailbox.remove(new)
        mailbox.put(old)
        said = mailbox.sync(reader, codes=(75,))
        assert "went back" in said or "gone back" in said, said
        equal(reader.digest(), held)
        mailbox.remove(old)
        mailbox.put(new)
        mailbox.become_one()


@scenario
def mailbox_restored_stores(directory: Path) -> None:
    """A store that was set back gets its own changes again: those that left them out of their logs put everything anew."""
    python, reference, mailbox = two_machines(directory)
    mailbox.become_one()
    for machine in (python, reference):
        copy = copy_of(machine, f"{machine.name}-before")
        machine.run(*(("put", GAME, "name=text:Catan") if machine is python else ("game", "add", "Go")))
        mailbox.become_one()
        held = machine.digest()
        restore(machine, copy)
        mailbox.become_one()
        equal(machine.digest(), held)


@scenario
def mailbox_beside_sessions(directory: Path) -> None:
    """What came over the LAN is not read again, and what was read here is not sent again."""
    python, reference, mailbox = two_machines(directory)
    mailbox.become_one()
    python.run("put", GAME, "name=text:Catan")
    mailbox.become_one()
    assert "sent 0, received 0" in sync(python, reference)
    python.run("put", PERSON, "firstName=text:Ada")
    sync(python, reference)
    mailbox.become_one()
    reference.run("game", "add", "Go")
    sync(reference, python)
    mailbox.become_one()


@scenario
def mailbox_refused_records(directory: Path) -> None:
    """What a machine has in another zone it refuses; the author is told by the next head, and when that ends."""
    python, reference, mailbox = two_machines(directory)
    python.run("zone", "club")
    python.run("put", GAME, "name=text:Catan", "--zone", "club")
    reference.run("zone", "create", "club")
    reference.run("person", "add", "Ada", "--zone", "club")
    (person,) = reference.names("SBPerson")
    reference.sql(f"INSERT INTO SBGame (recordName, name) VALUES ('{GAME}', 'Chess')")
    python.run("put", person, "firstName=text:Grace")
    said = mailbox.sync(python, reference, python)
    assert f"reference does not take {person}" in said, said
    said = mailbox.sync(reference)
    (refused,) = json.loads(reference.run("status", "--json"))["refused"]
    equal((refused["name"], refused["peer"], refused["reason"]), (GAME, "python", "otherZone"))
    assert "does not take" in said, said
    mailbox.sync(python, reference)
    before = mailbox.objects()
    mailbox.sync(python, reference, python, reference)
    equal(mailbox.objects(), before)
    next_millisecond()
    reference.run("record", "delete", GAME, "--yes")
    reference.run("zone", "delete", "club", "--yes")
    python.run("put", person, "firstName=text:Grace Hopper")
    mailbox.sync(reference, python, reference, python)
    equal(json.loads(reference.run("status", "--json"))["refused"], [])
    equal(reference.fields(person)["firstName"], "Grace Hopper")


@scenario
def mailbox_after_a_comparison(directory: Path) -> None:
    """A comparison in a session tells no deletions, so its token lets nobody pass over them in a log."""
    python, reference, other, mailbox = three_machines(directory)
    python.run("put", PERSON, "firstName=text:Ada")
    mailbox.become_one()
    copy = copy_of(python, "before")
    python.run("put", PERSON, "firstName=text:Grace")
    sync(python, reference)
    restore(python, copy)  # the reference's token is void now, so the two compare everything
    before = mailbox.objects()
    other.run("put", GAME, "name=text:Catan")
    mailbox.sync(other, reference)
    next_millisecond()
    reference.run("record", "delete", GAME, "--yes")
    sync(python, reference)
    mailbox.sync(reference)
    new = {name: content for name, content in mailbox.objects().items() if name not in before}
    mailbox.remove(new)
    mailbox.sync(python)  # its new log has no game
    mailbox.put(new)
    mailbox.become_one()
    equal(python.record(GAME)["state"], "deleted")


class OtherId(Author):
    """A machine that writes under an author id that its key does not give it."""

    @property
    def id(self) -> bytes:
        return bytes(range(16))


@scenario
def mailbox_of_two_ids(directory: Path) -> None:
    """An author has one id. What its key writes under another one is not there: two heads would take turns in each pass."""
    python, reference, mailbox = two_machines(directory)
    mailbox.become_one()
    store = Store(python.store)
    author, (reader,), now = OtherId(store.identity), store.peers().keys(), store.now()
    store.close()
    mailbox.put({head_name(author.id, now): Draft([], None, {reader: {}}, set()).seal(author, now, now)})
    before = mailbox.objects()
    for _ in range(2):
        mailbox.sync(reference)
        equal(mailbox.objects(), before)
        (peer,) = json.loads(reference.run("peers", "--json", "--no-discovery"))
        equal([zone["obstacle"] for zone in peer["zones"]], [None])


@scenario
def mailbox_after_a_union(directory: Path) -> None:
    """The zone stands in each segment: who gets another id for it by a union begins another log, which a newcomer reads whole."""
    one, two = Python(directory, "one"), Python(directory, "two")
    readers = [Python(directory, "reader of one"), Python(directory, "reader of two")]
    for machine, reader, record in ((one, readers[0], GAME), (two, readers[1], PERSON)):
        machine.run("put", record, "name=text:Catan")
        pair(reader, machine)
    mailbox = Mailbox(directory, one, two)
    mailbox.sync(one, two)
    before = {machine: zone_of(machine) for machine in (one, two)}
    pair(one, two, "--merge")
    (renamed,) = [machine for machine in (one, two) if zone_of(machine) != before[machine]]
    reference = Reference(directory, "reference")
    pair(reference, renamed)
    reference.run("mailbox", "add", "folder", str(mailbox.folder))
    mailbox.become_one(renamed, reference)


@scenario
def mailbox_restored_twice_in_a_year(directory: Path) -> None:
    """A second restored backup is not a second machine, when a week has passed since the first."""
    python, reference, mailbox = two_machines(directory)
    mailbox.become_one()
    for record in (GAME, PERSON):
        copy = copy_of(python, f"before-{record[:8]}")
        python.run("put", record, "name=text:Catan")
        mailbox.become_one()
        held = python.digest()
        restore(python, copy)
        mailbox.become_one()
        equal(python.digest(), held)
        with sqlite3.connect(python.store / "store.sqlite") as database:
            database.execute("UPDATE mailbox SET overtakenAt = 1")
        database.close()
        mailbox.sync(python)


@scenario
def mailbox_emptied(directory: Path) -> None:
    """An empty folder is not taken for the mailbox: nobody writes there until somebody says so."""
    python, reference, mailbox = two_machines(directory)
    mailbox.become_one()
    mailbox.remove(mailbox.objects())
    for machine in (python, reference):
        mailbox.fails(machine)
    equal(mailbox.objects(), {})
    python.run("mailbox", "sync", "--anew", str(mailbox.folder))
    equal(len(mailbox.heads(author_of(python))), 1)
    reference.run("mailbox", "remove", BOX)
    reference.run("mailbox", "add", "folder", str(mailbox.folder))
    mailbox.become_one()


class LateObjects:
    """A storage in which objects are seen late: some of what is new lies elsewhere for a while."""

    def __init__(self, mailbox: Mailbox, chance: random.Random) -> None:
        self._mailbox = mailbox
        self._chance = chance
        self._seen: set[str] = set()
        self._late: dict[str, bytes] = {}

    def shift(self) -> None:
        for name in [name for name in self._late if self._chance.random() < 0.5]:
            self._mailbox.put({name: self._late.pop(name)})
        objects = self._mailbox.objects()
        for name in sorted(objects.keys() - self._seen):
            if self._chance.random() < 0.2:
                self._late[name] = objects[name]
                self._mailbox.remove([name])
        self._seen |= objects.keys()

    def end(self) -> None:
        self._mailbox.put(self._late)


@scenario
def mailbox_random_edits(directory: Path) -> None:
    """Four machines, random edits, deletions, passes and sessions, and a storage that is late: all come to the same."""
    chance = random.Random(int(os.environ.get("SEED", "1")))
    machines = [Python(directory, "p1"), Reference(directory, "r1"), Python(directory, "p2"), Reference(directory, "r2")]
    for first, second in ((0, 1), (2, 1), (3, 0)):
        pair(machines[first], machines[second])
    mailbox = Mailbox(directory, *machines)
    mailbox.become_one()  # each hears here of those with which it was not paired
    late = LateObjects(mailbox, chance)
    names = [f"SBGame|~|{number:08x}-1b7a-4c46-84a7-419a0fe1bcd0" for number in range(6)]
    for step in range(int(os.environ.get("STEPS", "30"))):
        machine = chance.choice(machines)
        act = chance.random()
        if act < 0.5:
            edit(machine, chance.choice(names), f"step {step}", is_deletion=chance.random() < 0.25)
        elif act < 0.85:
            mailbox.sync(machine, codes=(0, 75))
            late.shift()
        else:
            sync(*chance.sample(machines, 2))
    late.end()
    for _ in range(3):  # one machine may wait for what another one has to put once more
        mailbox.sync(*machines)
    mailbox.become_one()


def edit(machine: Machine, name: str, content: str, is_deletion: bool) -> None:
    """Writes a game or deletes one, as far as the machine has it. Only a Python makes games with names of their own."""
    if isinstance(machine, Python):
        is_there = name in machine.run("show")
        if is_deletion and is_there:
            machine.run("delete", name)
        elif not is_deletion:
            machine.run("put", name, f"name=text:{content}")
    elif name in machine.names("SBGame"):
        if is_deletion:
            machine.run("record", "delete", name, "--yes")
        else:
            machine.run("game", "edit", name, "--name", content)
