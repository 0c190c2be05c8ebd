"""What a machine does before it knows whom it speaks with."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from probe import ALIVE, CUT, LISTENER, Probe, handshake_case, section
from scorebook_python_peer.channel import PROLOGUE, VERSION_REFUSAL, Channel, read_frame, write_frame
from scorebook_python_peer.errors import PeerError
from scorebook_python_peer.messages import Error, PairingShare, PairingTag, decode
from scorebook_python_peer.noise import Handshake, KeyPair
from scorebook_python_peer.pairing import Proof
from scorebook_python_peer.store import Store


def _closed(began: float) -> str:
    """How long the other side waited, as the limits of protocol.md 3.6 have it: computers are busy."""
    took = time.monotonic() - began
    return "closes at once" if took < 2.5 else "closes after 5 s" if took < 12 else "closes after 20 s"


def _first(frame: bytes, name: str, expected: str) -> None:
    """What the listener does with the first bytes of a connection."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, store: Store) -> str:
        Channel.note("sent", frame)
        writer.write(frame)
        began = time.monotonic()
        try:
            answer = await asyncio.wait_for(reader.read(200), 20)
        except OSError:
            answer = b""
        Channel.note("received", answer)
        if answer:
            return f"answers {answer[:10].hex()}" if len(answer) < 20 else f"answers {len(answer)} bytes"
        return _closed(began)

    handshake_case(name, expected, talk)


def _framed(content: bytes) -> bytes:
    return len(content).to_bytes(2, "big") + content


section("3.3")
_KEY = KeyPair.generate().public
_first(_framed(_KEY + b"SBPEER\1\0"), "the first message", "answers 98 bytes")
_first(_framed(_KEY + b"SBPEER\1\x09more"), "a first message of a later minor version", "answers 98 bytes")
_first(_framed(_KEY + b"SBPEER\2\0"), "another major version", "answers 0008534250454552ff01")
_first(_framed(_KEY + b"SBPEER\0\0"), "major version 0", "answers 0008534250454552ff01")
section("3.2")
_first(_framed(_KEY + b"SBPEER\1"), "a payload of 7 bytes", "closes at once")
_first(_framed(_KEY + b"HTTP/1.1"), "another protocol", "closes at once")
_first(_framed(_KEY[:31]), "half a key", "closes at once")
_first(_framed(bytes(32) + b"SBPEER\1\0"), "a key of zero bytes", "closes at once")
_first(_framed((1).to_bytes(32, "little") + b"SBPEER\1\0"), "a key of low order", "closes at once")
section("2")
_first(b"\0\0", "a frame of length 0", "closes at once")
_first(b"\2\1", "a frame of 513 bytes", "closes at once")
section("3.6")
_first(b"\2\0", "the beginning of a frame of 512 bytes", "closes after 5 s")
_first(b"", "nothing", "closes after 5 s")


async def _later_payloads(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, store: Store) -> str:
    handshake = Handshake(True, store.identity, PROLOGUE)
    write_frame(writer, handshake.write(b"SBPEER\1\0"))
    handshake.read(await read_frame(reader, 512))
    write_frame(writer, handshake.write(b"later versions say something here"))
    probe = Probe(Channel(reader, writer, handshake), store)
    await probe.run()
    return await probe.outcome()


async def _silent_stranger(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, store: Store) -> str:
    await Channel.call(reader, writer, store.identity)
    began = time.monotonic()
    await reader.read(200)
    return _closed(began)


async def _unpaired(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, store: Store) -> str:
    probe = Probe(await Channel.call(reader, writer, KeyPair.generate()), store)
    await probe.send(probe.hello())
    return await probe.outcome()


async def _stranger_out_of_turn(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, store: Store) -> str:
    return await Probe(await Channel.call(reader, writer, KeyPair.generate()), store).outcome()


section("3.2")
handshake_case("bytes in payload 3", ALIVE, _later_payloads)
section("3.6")
handshake_case("silence after the handshake", "closes after 20 s", _silent_stranger)
section("4.1")
handshake_case("a hello of a stranger", "error 4", _unpaired)
handshake_case("a ping of a stranger", "error 2", _stranger_out_of_turn)


# The same, with the other side as the caller.
async def _end(reader: asyncio.StreamReader) -> str:
    """What a caller does that has to close without another byte."""
    answer = await asyncio.wait_for(reader.read(200), 20)
    Channel.note("received", answer)
    return f"answers {len(answer)} bytes" if answer else CUT


def _answer_of(frame: bytes) -> Callable[..., Awaitable[str]]:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, store: Store) -> str:
        Channel.note("received", await read_frame(reader, 512))
        Channel.note("sent", frame)
        writer.write(frame)
        return await _end(reader)

    return talk


async def _strange_listener(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, store: Store) -> str:
    """Nobody has told the caller a code: it must not greet a machine that it does not know."""
    channel = await Channel.answer(reader, writer, KeyPair.generate())
    return await _what_comes(channel)


async def _what_comes(channel: Channel) -> str:
    try:
        message = decode(await channel.receive(15))
    except PeerError:
        return CUT
    return f"error {message.code}" if isinstance(message, Error) else f"sends {type(message).__name__}"


def _pairing(share: Callable[[bytes, bytes], bytes]) -> Callable[..., Awaitable[str]]:
    """A listener that does not know the code. `share` makes its share of the caller's and of an honest one."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, store: Store) -> str:
        keys = KeyPair.generate()
        channel = await Channel.answer(reader, writer, keys)
        theirs = decode(await channel.receive(15))
        if not isinstance(theirs, PairingShare):
            return f"sends {type(theirs).__name__} in the place of a share"
        proof = Proof(False, "000000", channel.handshake_hash, channel.remote_key, keys.public)
        await channel.send(PairingShare(share(theirs.share, proof.share)).encode())
        answer = await _what_comes(channel)
        if answer != "sends PairingTag":
            return answer
        await channel.send(PairingTag(bytes(64), "probe").encode())
        return await _what_comes(channel)

    return talk


TOLD = "123456"
section("3.3")
handshake_case("a listener of another major version", CUT, _answer_of(_framed(VERSION_REFUSAL + b"\2")), LISTENER)
section("2")
handshake_case("an answer of length 0", CUT, _answer_of(b"\0\0"), LISTENER)
handshake_case("an answer of 513 bytes", CUT, _answer_of(b"\2\1"), LISTENER)
section("3.2")
handshake_case("an answer that is no handshake", CUT, _answer_of(_framed(bytes(96))), LISTENER)
section("4.1")
handshake_case("a listener that is not paired, and no code", "error 4", _strange_listener, LISTENER)
section("4.4")
handshake_case("a listener that does not know the code", "error 6", _pairing(lambda theirs, own: own), LISTENER, TOLD)
handshake_case("a share that is no point", CUT, _pairing(lambda theirs, own: b"\xff" * 32), LISTENER, TOLD)
handshake_case("a share of zero bytes", CUT, _pairing(lambda theirs, own: bytes(32)), LISTENER, TOLD)
handshake_case("the own share comes back", CUT, _pairing(lambda theirs, own: theirs), LISTENER, TOLD)
