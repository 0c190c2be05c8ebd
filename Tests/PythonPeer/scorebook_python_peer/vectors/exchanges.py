"""Checks of messages, of what must be refused, and of reconciliations (protocol.md 5, 7.10, 10)."""

import asyncio
import tempfile
from pathlib import Path

from ..channel import Channel, MessageBuffer
from ..errors import ErrorCode, Malformed
from ..messages import MESSAGE_LIMIT, Begin, Error, Hello, Message, Open, Union, decode
from ..names import ZoneID
from ..negentropy import MESSAGE_BYTES, Negentropy
from ..noise import KeyPair
from ..records import Item
from ..session import Options, Session
from ..store import Store
from .notation import Json, equal, hexadecimal, message


def read_message(data: bytes, limit: int = MESSAGE_LIMIT) -> Message | None:
    """What a reader makes of a whole message, length in front."""
    buffer = MessageBuffer()
    buffer.limit = limit
    buffer.feed(data)
    body = buffer.next()
    if body is None:
        raise AssertionError("the message is not whole")
    return decode(body)


def check_messages(vector: Json) -> None:
    for entry in vector["messages"]:
        expected = message(entry["message"])
        assert expected is not None
        name = entry["message"]["type"]
        equal(f"{name} read", read_message(hexadecimal(entry["bytes"])), expected)
        equal(f"{name} written", expected.encode(), hexadecimal(entry["bytes"]))
    for entry in vector["readsAs"]:
        equal(entry["why"], read_message(hexadecimal(entry["bytes"])), message(entry["message"]))


def check_reconciliation(vector: Json) -> None:
    for entry in vector["single"]:
        try:
            Negentropy([]).answer(hexadecimal(entry["bytes"]))
        except Malformed:
            equal(entry["why"], "malformed", "malformed" if entry["malformed"] else "taken")
        else:
            equal(entry["why"], "taken", "malformed" if entry["malformed"] else "taken")
    for case in vector["cases"]:
        limit = case["frameSizeLimit"] or MESSAGE_BYTES
        caller, asking, listener = (
            Negentropy([Item(int(time), hexadecimal(id)) for time, id in case[side]], limit)
            for side in ("caller", "caller", "listener")
        )
        expected = tuple([hexadecimal(id) for id in case[found]] for found in ("have", "need"))
        equal(case["why"], _reconcile(caller, listener), expected)
        # The other side's messages of the vector, whatever this one would have said.
        messages = [hexadecimal(text) for text in case["messages"]]
        only_here: list[bytes] = []
        only_there: list[bytes] = []
        for query, answer in zip(messages[::2], messages[1::2]):
            if not case["frameSizeLimit"]:
                equal(f"{case['why']}, answer", listener.answer(query), answer)
            else:
                listener.answer(query)
            difference = asking.take(answer)
            only_here += difference.only_here
            only_there += difference.only_there
        equal(f"{case['why']}, from the vector", (sorted(only_here), sorted(only_there)), expected)


def _reconcile(caller: Negentropy, listener: Negentropy) -> tuple[list[bytes], list[bytes]]:
    """What the caller is told, each id as often as it is told."""
    only_here: list[bytes] = []
    only_there: list[bytes] = []
    query: bytes | None = caller.first_message()
    while query is not None:
        query, here, there = caller.take(listener.answer(query))
        only_here += here
        only_there += there
    return sorted(only_here), sorted(only_there)


def check_malformed(vector: Json) -> None:
    for entry in vector["messages"]:
        _check_refused(entry["why"], hexadecimal(entry["bytes"]), MESSAGE_LIMIT, entry["error"])
    for entry in vector["longMessages"]:
        data = b"".join(hexadecimal(part["bytes"]) * part["times"] for part in entry["parts"])
        _check_refused(entry["why"], data, MESSAGE_LIMIT, entry["error"])
    for entry in vector["beforeGreeting"]:
        _check_refused(entry["why"], hexadecimal(entry["bytes"]), MessageBuffer().limit, entry["error"])
    for entry in vector["outOfTurn"]:
        code = asyncio.run(_error_in_session(entry["inPlaceOf"], hexadecimal(entry["bytes"])))
        equal(entry["why"], code, entry["error"])


def _check_refused(why: str, data: bytes, limit: int, code: int) -> None:
    equal(why, code, ErrorCode.MALFORMED)
    try:
        taken = read_message(data, limit)
    except Malformed:
        return
    raise AssertionError(f"{why}: was taken as {taken}")


async def _error_in_session(stage: str, data: bytes) -> int | None:
    """The code of the error with which a listener answers a message in place of the one that is named."""
    with tempfile.TemporaryDirectory() as directory:
        store = Store(Path(directory))
        identity = KeyPair.generate()
        store.add_peer(identity.public, "caller")

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            channel = await Channel.answer(reader, writer, store.identity)
            try:
                await Session(channel, store, False, Options("listener")).run()
            except Exception:  # the caller sees how the session ended
                pass

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        try:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
            channel = await Channel.call(reader, writer, identity)
            channel.allow_long_messages()
            await _reach(channel, store.default_zone.id, stage)
            await channel.send(data)
            while not isinstance(answer := decode(await channel.receive(30)), Error):
                pass
            writer.close()
            return answer.code
        finally:
            server.close()
            await asyncio.sleep(0.01)
            store.close()


async def _reach(channel: Channel, zone: ZoneID, stage: str) -> None:
    """Goes on with a session until the message of this name is expected by the other side."""
    steps: list[tuple[str, Message, type[Message]]] = [
        ("hello", Hello(0, 1, 1, "caller", 0, []), Hello),
        ("open", Open(Union.NONE, {zone: None}), Open),
    ]
    for name, own, answer in steps:
        if stage == name:
            return
        await channel.send(own.encode())
        while not isinstance(decode(await channel.receive(30)), answer):
            pass
    await channel.send(Begin(0, False, True, 0).encode())
