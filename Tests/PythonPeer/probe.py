"""A connection on which the rules are broken, and the cases that are played on it, each with the answer that protocol.md names."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from scorebook_python_peer.channel import Channel
from scorebook_python_peer.errors import PeerError
from scorebook_python_peer.messages import (
    AssetsWanted,
    Begin,
    Error,
    Goodbye,
    Hello,
    Message,
    OfferedZone,
    Open,
    Ping,
    Pong,
    Right,
    Union,
    decode,
)  # fmt: skip
from scorebook_python_peer.store import Store, wall_clock
from scorebook_python_peer.tokens import Token

ALIVE = "goes on"
CUT = "closes"
ENDED = "goodbye"


class Probe:
    """A connection on which the rules are broken."""

    def __init__(self, channel: Channel, store: Store, is_caller: bool = True) -> None:
        self.channel = channel
        self.store = store
        self.is_caller = is_caller
        self.zone = store.default_zone

    async def send(self, message: Message | bytes) -> None:
        await self.channel.send(message if isinstance(message, bytes) else message.encode())

    async def until(self, kind: type[Message]) -> Message:
        while True:
            message = decode(await self.channel.receive(10))
            if isinstance(message, Error):
                raise AssertionError(f"error {message.code}: {message.sentence}")
            if isinstance(message, kind):
                return message

    def hello(self, **changes) -> Hello:
        total = self.store.sum(self.zone.number)
        offer = OfferedZone(self.zone.id, "probe", True, True, Right.WRITE, total.count, total.fingerprint)
        return replace(Hello(0, self.store.replica, 1, "probe", wall_clock(), [offer]), **changes)

    # The stages of a session: up to where the messages of a case go.

    async def first(self) -> None:
        """Up to the end of the handshake."""

    async def hello_due(self) -> None:
        """Up to where this side's hello is due."""
        if not self.is_caller:
            await self.until(Hello)

    async def greet(self) -> None:
        """Up to where this side's open is due."""
        await self.hello_due()
        await self.send(self.hello())
        self.channel.allow_long_messages()
        await self.until(Hello if self.is_caller else Open)

    def no_open(self) -> Open:
        return Open(Union.NONE, {self.zone.id: None})

    async def open(self, token: Token | None) -> None:
        await self.send(Open(Union.NONE, {self.zone.id: token}))
        if self.is_caller:
            await self.until(Open)

    async def run(self) -> None:
        """Up to a session at rest: nothing asked for, everything acknowledged."""
        await self.greet()
        token = self.store.received_token(self.channel.remote_key, self.zone.number)
        await self.open(token)
        await self.until(Begin)
        await self.send(Begin(0, False, False, 1))
        await self.send(AssetsWanted(0, 0))

    async def opened(self) -> None:
        """Up to the opens; the other side's begin is there, this side's is not."""
        await self.greet()
        await self.open(self.store.received_token(self.channel.remote_key, self.zone.number))
        await self.until(Begin)

    async def reconcile(self, count: int = 5) -> None:
        """Up to where the listener waits for the first reconcile."""
        await self.greet()
        await self.open(None)
        await self.until(Begin)
        await self.send(Begin(0, False, True, count))

    async def outcome(self) -> str:
        """What the other side does: an error, a goodbye, silence, or going on."""
        mark = b"stillthe"
        try:
            await self.send(Ping(mark))
            while True:
                message = decode(await self.channel.receive(15))
                if isinstance(message, Error):
                    return f"error {message.code} ({message.sentence})"
                if isinstance(message, Goodbye):
                    return ENDED
                if isinstance(message, Pong) and message.content == mark:
                    return ALIVE
        except (PeerError, OSError):
            return CUT


@dataclass(frozen=True)
class Case:
    """One way to break the rules."""

    section: str
    """Of protocol.md: what says which answer is right."""
    name: str
    expected: str
    play: Callable[[Probe], Awaitable[None]]
    roles: tuple[str, ...]


@dataclass(frozen=True)
class HandshakeCase:
    """What happens on a connection before there is a channel. `play` gives what the other side did."""

    section: str
    name: str
    expected: str
    play: Callable[[asyncio.StreamReader, asyncio.StreamWriter, Store], Awaitable[str]]
    role: str
    code: str | None = None
    """The code that a caller is told, if it is told one."""


CALLER, LISTENER = "caller", "listener"
BOTH = (CALLER, LISTENER)
# A stage that a listener reaches in its own way, or where another answer is right.
CALLERS_STAGES = ("first", "reconcile")
CASES: list[Case] = []
HANDSHAKES: list[HandshakeCase] = []
_section = ""


def section(number: str) -> None:
    """Says where protocol.md has what the cases that follow are about."""
    global _section
    _section = number


def case(
    name: str, expected: str, stage: str, *messages: Message | bytes | Callable[[Probe], Message | bytes],
    roles: tuple[str, ...] = BOTH,
) -> None:  # fmt: skip
    """A case that reaches a stage of a session and then sends something."""

    async def play(probe: Probe) -> None:
        await getattr(probe, stage)()
        for message in messages:
            await probe.send(message(probe) if callable(message) else message)

    CASES.append(Case(_section, name, expected, play, (CALLER,) if stage in CALLERS_STAGES else roles))


def handshake_case(
    name: str, expected: str, play: Callable[..., Awaitable[str]], role: str = CALLER, code: str | None = None
) -> None:
    HANDSHAKES.append(HandshakeCase(_section, name, expected, play, role, code))
