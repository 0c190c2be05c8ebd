"""Frames, the handshake over TCP, and the stream of messages (protocol.md 2, 3, 5.1)."""

import asyncio
import socket
from collections.abc import Awaitable
from typing import Protocol

from .errors import ConnectionCut, Malformed
from .messages import EARLY_MESSAGE_LIMIT, MESSAGE_LIMIT
from .noise import KEY_BYTES, TAG_BYTES, Handshake, HandshakeFailed, KeyPair

MAJOR_VERSION = 1
MINOR_VERSION = 0
APP_ID = b"scorebook"
PROLOGUE = b"scorebook-peer" + bytes((MAJOR_VERSION,)) + APP_ID
GREETING_PAYLOAD = b"SBPEER" + bytes((MAJOR_VERSION, MINOR_VERSION))
VERSION_REFUSAL = b"SBPEER\xff"
HANDSHAKE_FRAME_LIMIT = 512
FRAME_LIMIT = 65_535
PLAINTEXT_LIMIT = FRAME_LIMIT - TAG_BYTES
HANDSHAKE_SECONDS = 5
SILENCE_SECONDS = 45


class VersionsDiffer(ConnectionCut):
    """The listener speaks another major version (protocol.md 3.3)."""


class MessageBuffer:
    """Puts messages together from the plaintexts of frames (protocol.md 2, 5.1)."""

    def __init__(self) -> None:
        self.limit = EARLY_MESSAGE_LIMIT
        self._data = bytearray()

    def feed(self, plaintext: bytes) -> None:
        self._data += plaintext

    def next(self) -> bytes | None:
        """Type and payload of a message, if it is there whole. Its length is held against the limit first."""
        if not self._data:
            return None
        size = 1 << (self._data[0] >> 6)
        if len(self._data) < size:
            return None
        length = int.from_bytes(self._data[:size], "big") & ((1 << (8 * size - 2)) - 1)
        if length > self.limit:
            raise Malformed(f"a message of {length} bytes, the limit is {self.limit}")
        if len(self._data) < size + length:
            return None
        body = bytes(self._data[size : size + length])
        del self._data[: size + length]
        return body


class Channel:
    """An encrypted connection, after its handshake."""

    tape: list[tuple[str, bytes]] | None = None
    """What went over all channels of this process, for whoever wants to look at the bytes later; none is kept if nobody does."""

    @classmethod
    def note(cls, direction: str, content: bytes) -> None:
        if cls.tape is not None:
            cls.tape.append((direction, content))

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handshake: Handshake) -> None:
        self._reader = reader
        self._writer = writer
        self._sending, self._receiving = handshake.ciphers()
        self._messages = MessageBuffer()
        self.remote_key = handshake.remote_static
        self.handshake_hash = handshake.hash
        self.bytes_received = 0
        self.bytes_sent = 0

    @classmethod
    async def call(cls, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, identity: KeyPair) -> "Channel":
        """The caller's side: shakes hands within 5 seconds (protocol.md 3.6)."""
        handshake = Handshake(True, identity, PROLOGUE)
        await _in_time(writer, shake_as_caller(reader, writer, handshake))
        return cls(reader, writer, handshake)

    @classmethod
    async def answer(cls, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, identity: KeyPair) -> "Channel":
        """The listener's side: shakes hands within 5 seconds (protocol.md 3.6)."""
        handshake = Handshake(False, identity, PROLOGUE)
        await _in_time(writer, shake_as_listener(reader, writer, handshake))
        return cls(reader, writer, handshake)

    async def send(self, message: bytes) -> None:
        """Sends a message, in as many frames as it needs, and waits until the line takes more."""
        self.note("sent", message)
        for start in range(0, len(message), PLAINTEXT_LIMIT):
            frame = self._sending.encrypt(message[start : start + PLAINTEXT_LIMIT])
            self.bytes_sent += 2 + len(frame)
            write_frame(self._writer, frame)
            try:
                await self._writer.drain()
            except OSError as error:
                raise ConnectionCut(f"the connection was cut: {error}") from None

    async def receive(self, silence: float | None = SILENCE_SECONDS) -> bytes:
        """The next message, type and payload. Each frame must come within the time of silence (protocol.md 11)."""
        while (body := self._messages.next()) is None:
            try:
                async with asyncio.timeout(silence):
                    frame = await read_frame(self._reader, FRAME_LIMIT)
            except TimeoutError:
                raise ConnectionCut("nothing came from the other side for too long") from None
            self.bytes_received += 2 + len(frame)
            self._messages.feed(self._receiving.decrypt(frame))
        self.note("received", body)
        return body

    def allow_long_messages(self) -> None:
        """From now on messages of 16 MiB may come (protocol.md 4.1, 5.1)."""
        self._messages.limit = MESSAGE_LIMIT

    async def close(self) -> None:
        self._writer.close()
        try:
            async with asyncio.timeout(2):
                await self._writer.wait_closed()
        except (OSError, TimeoutError):
            self._writer.transport.abort()


class Output(Protocol):
    """What a handshake writes to."""

    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None: ...


async def shake_as_caller(reader: asyncio.StreamReader, writer: Output, handshake: Handshake) -> None:
    """The caller's side of the handshake (protocol.md 3.2, 3.3)."""
    write_frame(writer, handshake.write(GREETING_PAYLOAD))
    answer = await read_frame(reader, HANDSHAKE_FRAME_LIMIT)
    if len(answer) == 8 and answer.startswith(VERSION_REFUSAL):
        raise VersionsDiffer(f"the other side speaks version {answer[7]} of the protocol, this one {MAJOR_VERSION}")
    handshake.read(answer)
    write_frame(writer, handshake.write(b""))
    await writer.drain()


async def shake_as_listener(reader: asyncio.StreamReader, writer: Output, handshake: Handshake) -> None:
    """The listener's side of the handshake (protocol.md 3.2, 3.3)."""
    message = await read_frame(reader, HANDSHAKE_FRAME_LIMIT)
    payload = message[KEY_BYTES:]
    if len(payload) < 8 or not payload.startswith(b"SBPEER"):
        raise HandshakeFailed("a stranger does not speak this protocol")
    if payload[6] != MAJOR_VERSION:
        write_frame(writer, VERSION_REFUSAL + bytes((MAJOR_VERSION,)))
        await writer.drain()
        raise HandshakeFailed(f"a caller speaks version {payload[6]} of the protocol")
    handshake.read(message)
    write_frame(writer, handshake.write(b""))
    await writer.drain()
    handshake.read(await read_frame(reader, HANDSHAKE_FRAME_LIMIT))


async def _in_time(writer: asyncio.StreamWriter, shaking: Awaitable[None]) -> None:
    writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        async with asyncio.timeout(HANDSHAKE_SECONDS):
            await shaking
    except TimeoutError:
        raise HandshakeFailed("nothing answered in time") from None


def write_frame(writer: Output, content: bytes) -> None:
    writer.write(len(content).to_bytes(2, "big") + content)


async def read_frame(reader: asyncio.StreamReader, limit: int) -> bytes:
    """One frame; its length is refused before its content is waited for (protocol.md 2)."""
    try:
        length = int.from_bytes(await reader.readexactly(2), "big")
        if not 1 <= length <= limit:
            raise Malformed(f"a frame of {length} bytes")
        return await reader.readexactly(length)
    except asyncio.IncompleteReadError:
        raise ConnectionCut("the connection was cut") from None
    except OSError as error:
        raise ConnectionCut(f"the connection was cut: {error}") from None
