"""Replays the sessions of sessions.json (protocol.md 7): once as the caller, and once as the listener.

The real session runs on a channel in memory that brings what the other side said there. What this side says is held
against the conversation, and its store against what it must hold in the end.
"""

import asyncio
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

from ..channel import Channel
from ..errors import RemoteError, SessionError
from ..messages import BatchMessage, Error, Message, Reconcile, Refuse, Right, Union, decode
from ..names import ZoneID
from ..noise import KeyPair
from ..session import Options, Session
from ..store import Store
from .exchanges import read_message
from .notation import Json, equal, hexadecimal, message, optional_token, record, token

PARTS_OF_A_ZONE = (
    "id", "default", "shared", "rights", "received", "acknowledged", "forgotten", "refused", "records",
)  # fmt: skip


def check_sessions(vector: Json) -> None:
    for case in vector["cases"]:
        for role in ("caller", "listener"):
            try:
                asyncio.run(_replay(case, role, int(vector["clock"])))
            except Exception as error:
                raise AssertionError(f"{case['title']}, {role}: {type(error).__name__}: {error}") from error


class _Line:
    """Stands in for the channel of a session."""

    handshake_hash = b""
    bytes_sent = bytes_received = 0

    def __init__(self, remote_key: bytes) -> None:
        self.remote_key = remote_key
        self.sent: list[bytes] = []
        self.is_idle = False
        self._arriving: asyncio.Queue[bytes] = asyncio.Queue()

    def bring(self, data: bytes) -> None:
        self.is_idle = False
        self._arriving.put_nowait(data)

    async def send(self, data: bytes) -> None:
        self.sent.append(data)

    async def receive(self, silence: float | None = None) -> bytes:
        self.is_idle = self._arriving.empty()
        return await self._arriving.get()

    def allow_long_messages(self) -> None:
        pass

    async def close(self) -> None:
        pass


async def _replay(case: Json, role: str, clock: int) -> None:
    own, other = case[role], case["listener" if role == "caller" else "caller"]
    generations = iter([hexadecimal(text) for text in own["generations"]])
    with tempfile.TemporaryDirectory() as directory:
        identity = KeyPair(hexadecimal(own["staticSecret"]))
        equal("static key", identity.public, hexadecimal(own["static"]))
        store = Store(Path(directory), identity, lambda: clock, lambda: next(generations))
        peer = hexadecimal(other["static"])
        store.add_peer(peer, other["displayName"])
        _fill(store, peer, own["before"])
        wish = case["wish"]
        union = Union(wish["union"]) if wish["union"] is not None else None
        options = Options(own["displayName"], instance=int(own["instance"], 16))
        if role == "caller":
            options = replace(
                options, union=union, starts_over=wish["startOver"], compare_everything=wish["compareEverything"]
            )
        elif wish["allows"]:
            options = replace(options, union=union, may_be_replaced=union == Union.REPLACE_LISTENER)
        line = _Line(peer)
        session = Session(cast(Channel, line), store, role == "caller", options)
        running = asyncio.create_task(session.run())
        try:
            await _converse(case["conversation"], role, store, session, line, running)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        equal("generations left", list(generations), [])
        _compare(_describe(store, peer), own["after"])
        store.close()


async def _converse(
    conversation: Json, role: str, store: Store, session: Session, line: _Line, running: asyncio.Task
) -> None:
    await _quiet(line, running)
    causes: list[int | None] = [None] * len(line.sent)  # the entry that each message in line.sent was said on
    for number, entry in enumerate(conversation):
        where = f"entry {number}"
        if entry.get("at") == role:
            store.merge_local([record(state) for state in entry["writes"]])
            session.advance()
            await _quiet(line, running)
        elif entry.get("from") == role:
            if entry["message"]["type"] == "goodbye" and role == "caller":
                session.stop()  # the caller's user has seen enough
                await _quiet(line, running)
                causes += [None] * (len(line.sent) - len(causes))
            end = f", after {running.exception()!r}" if running.done() else ""
            assert line.sent, f"{where}: nothing is said{end}, instead of {entry['message']}"
            _compare_message(where, line.sent.pop(0), entry)
            cause = causes.pop(0)
            if entry["message"]["type"] != "assetsWanted":
                equal(f"{where}: what it is said on", cause, entry["on"])
        elif "from" in entry and not running.done():
            line.bring(_body(hexadecimal(entry["bytes"])))
            await _quiet(line, running)
        causes += [number] * (len(line.sent) - len(causes))
    assert not line.sent, f"something more is said: {decode(_body(line.sent[0]))}"
    errors = [entry for entry in conversation if entry.get("message", {}).get("type") == "error"]
    assert running.done(), "the session goes on"
    if not errors:
        running.result()
    else:
        kind = SessionError if errors[0]["from"] == role else RemoteError
        assert isinstance(running.exception(), kind), f"the session ended with {running.exception()!r}"


async def _quiet(line: _Line, running: asyncio.Task) -> None:
    """Waits until the session has dealt with all that it was told, and has nothing more to say."""
    still, said = 0, -1
    while still < 10 and not running.done():
        await asyncio.sleep(0)
        still = still + 1 if line.is_idle and len(line.sent) == said else 0
        said = len(line.sent)


def _body(data: bytes) -> bytes:
    """A message without its length, which takes 1, 2, 4 or 8 bytes."""
    return data[1 << (data[0] >> 6) :]


def _compare_message(where: str, data: bytes, entry: Json) -> None:
    """The same bytes, or where the text leaves a choice, the same meaning."""
    expected = hexadecimal(entry["bytes"])
    equal(f"{where} as the vector says it", read_message(expected), message(entry["message"]))
    if data != expected:
        equal(where, _meaning(read_message(data)), _meaning(read_message(expected)))


def _meaning(said: Message | None) -> object:
    """What remains of a message when what is left to the sender is taken away: an order, or the words for people."""
    match said:
        case BatchMessage(zone, batch):
            return zone, batch.token, batch.last, batch.loose, dict(batch.records)
        case Refuse(zone, reason, names):
            return zone, reason, set(names)
        case Reconcile(zone, end, wanted, content):
            return zone, end, set(wanted), content
        case Error(code):
            return code
    return said


# Stores


def _fill(store: Store, peer: bytes, content: Json) -> None:
    """Makes a store what a vector says that it is."""
    with store.transaction():
        for zone in content["zones"]:
            zone_id = ZoneID(zone["name"], int(zone["owner"], 16))
            if zone["default"]:
                store.rename_default_zone(zone_id)
            else:
                store.add_zone(zone_id, zone["calledHere"])
            made = store.zone(zone_id)
            assert made is not None
            number = made.number
            store.restore_zone(number, zone["shared"], int(zone["forgotten"]))
            if zone["rights"] is not None:
                store.grant(peer, number, Right(zone["rights"]))
            store.set_received_token(peer, number, optional_token(zone["received"]))
            store.acknowledge(peer, number, int(zone["acknowledged"]))
            for entry in zone["records"]:
                name, state = record(entry["state"])
                origin = peer if entry["fromPeer"] else None
                store.restore_record(name, number, state, int(entry["number"]), int(entry["group"]), origin)
            for entry in zone["refused"]:
                store.note_refused(peer, entry["reason"], [entry["name"]], int(content["lastNumber"]))
        generations = [(int(g["firstNumber"]), hexadecimal(g["generation"])) for g in content["generations"]]
        store.restore_numbers(int(content["lastNumber"]), int(content["greatestTime"], 16), generations)


def _describe(store: Store, peer: bytes) -> Json:
    """A store, as the vectors see it. Numbers within a group may be given in any order, so they are not part of it."""
    zones = []
    for zone in store.zones():
        link = store.received_token(peer, zone.number), store.acknowledged(peer, zone.number)
        records = {name: (state, store.group(name)) for name, state in store.states(zone.number)}
        zones.append(
            (
                zone.id, zone.is_default, zone.is_shared, store.rights(peer, zone), *link,
                store.forgotten(zone.number), store.refused(peer, zone.number), records,
            )
        )  # fmt: skip
    return store.last_number, store.greatest_time, zones


def _compare(actual: Json, expected: Json) -> None:
    last_number, greatest_time, zones = actual
    equal("last number", last_number, int(expected["lastNumber"]))
    equal("greatest time", f"{greatest_time:016x}", expected["greatestTime"])
    equal("number of zones", len(zones), len(expected["zones"]))
    for zone, content in zip(zones, expected["zones"]):
        for what, value, wanted in zip(PARTS_OF_A_ZONE, zone, _expected(content), strict=True):
            equal(f"{content['calledHere']}: {what}", value, wanted)


def _expected(zone: Json) -> Iterator[object]:
    undecided = Right.WRITE if zone["default"] else Right.NOTHING
    yield ZoneID(zone["name"], int(zone["owner"], 16))
    yield zone["default"]
    yield zone["shared"]
    yield undecided if zone["rights"] is None else Right(zone["rights"])
    yield None if zone["received"] is None else token(zone["received"])
    yield int(zone["acknowledged"])
    yield int(zone["forgotten"])
    yield {entry["name"]: entry["reason"] for entry in zone["refused"]}
    records = {}
    for entry in zone["records"]:
        name, state = record(entry["state"])
        records[name] = (state, int(entry["group"]))
    yield records
