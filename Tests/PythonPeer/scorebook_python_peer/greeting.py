"""From the handshake to the agreed zones: pairing, hello and open (protocol.md 4, 7.1, 7.12)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from .agreement import AgreedZone, Agreement
from .channel import MINOR_VERSION, Channel
from .cpace import BadShare
from .errors import ConnectionCut, ErrorCode, SessionError, unexpected
from .messages import (
    Hello,
    Message,
    OfferedZone,
    Open,
    PairingShare,
    PairingTag,
    Right,
    Union,
)  # fmt: skip
from .pairing import Desk, Proof
from .store import Store

M = TypeVar("M", bound=Message)

GREETING_SECONDS = 20
OPEN_SECONDS = 600


class Greeting:
    """One side of the greeting. `receive` gives the next message, `post` sends one."""

    def __init__(
        self, channel: Channel, store: Store, is_caller: bool, name: str, instance: int,
        receive: Callable[[], Awaitable[Message]], post: Callable[[Message], None],
        scalar: int | None = None,
    ) -> None:  # fmt: skip
        self._channel = channel
        self._store = store
        self._is_caller = is_caller
        self._name = name
        self._instance = instance
        self._receive = receive
        self._post = post
        self._peer = channel.remote_key
        self._scalar = scalar  # fixed by the test vectors, otherwise random
        self.paired_with: str | None = None
        """The name of the machine with which this session has paired."""

    async def hellos(self, code: str | None, pair_again: bool, desk: Desk | None) -> tuple[Hello, Hello]:
        """Pairs if need be, and exchanges the hellos: this side's and the other's (protocol.md 4.1, 7.1)."""
        if self._peer == self._store.identity.public:
            raise SessionError(ErrorCode.SAME_IDENTITY, "both sides have the same identity key")
        try:
            async with asyncio.timeout(GREETING_SECONDS):
                return await (self._call(code, pair_again) if self._is_caller else self._answer(desk))
        except TimeoutError:
            raise ConnectionCut("the other side did not greet in time") from None

    async def _call(self, code: str | None, pair_again: bool) -> tuple[Hello, Hello]:
        is_stored = self._store.peer_name(self._peer) is not None
        if not is_stored and code is None:
            raise self._store.refusal(self._peer)
        if code is not None and (not is_stored or pair_again):
            await self.pair_as_caller(code)
        self._channel.allow_long_messages()
        own = self._hello()
        self._post(own)
        return own, _expect(await self._receive(), Hello)

    async def _answer(self, desk: Desk | None) -> tuple[Hello, Hello]:
        first = await self._receive()
        if isinstance(first, PairingShare):
            await self.pair_as_listener(first, desk or Desk())
            first = await self._receive()
        theirs = _expect(first, Hello)
        if self._store.peer_name(self._peer) is None:
            raise self._store.refusal(self._peer)
        self._channel.allow_long_messages()
        own = self._hello()
        self._post(own)
        return own, theirs

    # Pairing (protocol.md 4.4)

    async def pair_as_caller(self, code: str) -> None:
        proof = self._proof(code)
        self._post(PairingShare(proof.share))
        try:
            proof.take(_expect(await self._receive(), PairingShare).share)
        except BadShare as error:
            raise ConnectionCut(str(error)) from None
        self._post(PairingTag(proof.tag, self._name))
        tag = _expect(await self._receive(), PairingTag)
        self._check(proof, tag)
        self._store.add_peer(self._peer, tag.name)
        # The other side may have given this one a zone only, which the opens show.
        self._store.note_introduction_due(self._peer)
        self.paired_with = tag.name

    async def pair_as_listener(self, share: PairingShare, desk: Desk) -> None:
        code = desk.begin_attempt()
        succeeded = False
        try:
            proof = self._proof(code)
            try:
                proof.take(share.share)
            except BadShare as error:
                raise SessionError(ErrorCode.PAIRING_FAILED, str(error)) from None
            self._post(PairingShare(proof.share))
            tag = _expect(await self._receive(), PairingTag)
            self._check(proof, tag)
            desk.check_is_shown(code)
            self._store.add_peer(self._peer, tag.name)
            if desk.zone is None:
                self._store.introduce(self._peer, tag.name)
            else:
                self._store.grant_only(self._peer, desk.zone)
            self.paired_with = tag.name
            succeeded = True
            self._post(PairingTag(proof.tag, self._name))
        finally:
            desk.end_attempt(code, succeeded)

    def _proof(self, code: str) -> Proof:
        keys = (self._store.identity.public, self._peer)
        caller_key, listener_key = keys if self._is_caller else reversed(keys)
        return Proof(self._is_caller, code, self._channel.handshake_hash, caller_key, listener_key, self._scalar)

    def _check(self, proof: Proof, tag: PairingTag) -> None:
        if not proof.accepts(tag.tag):
            raise SessionError(ErrorCode.PAIRING_FAILED, "the pairing code was wrong")

    # Hello (protocol.md 7.1)

    def _hello(self) -> Hello:
        offers = []
        for zone in self._store.zones():
            rights = self._store.rights(self._peer, zone)
            if rights != Right.NOTHING:
                total = self._store.sum(zone.number)
                offers.append(
                    OfferedZone(
                        zone.id, zone.title, zone.is_default, zone.is_shared, rights, total.count, total.fingerprint
                    )
                )
        return Hello(MINOR_VERSION, self._store.replica, self._instance, self._name, self._store.now(), offers)

    # Open (protocol.md 7.12)

    async def agree(
        self, own: Hello, theirs: Hello, wanted: Union | None, starts_over: bool, may_be_replaced: bool
    ) -> list[AgreedZone]:
        """Exchanges the opens. Gives the zones of the session in their order.

        `wanted` is what the user of this side has said to the default zones; of a listener's, only merge counts.
        """
        agreement = Agreement(self._store, self._peer, self._is_caller, own, theirs)
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                if self._is_caller:
                    union = agreement.choose(wanted)
                    own_open = agreement.open(union, starts_over)
                    self._post(own_open)
                    their_open = _expect(await self._receive(), Open)
                    agreement.confirm(union, their_open)
                    agreement.carry_out(union)
                else:
                    their_open = _expect(await self._receive(), Open)
                    consent = may_be_replaced if their_open.union == Union.REPLACE_LISTENER else wanted == Union.MERGE
                    agreement.allow(their_open.union, consent or None)
                    agreement.carry_out(their_open.union)
                    own_open = agreement.open(their_open.union)
                    self._post(own_open)
        except TimeoutError:
            raise ConnectionCut("the other side did not say which zones it takes part in") from None
        agreed = agreement.zones(own_open, their_open)
        if starts_over:
            held = {z.zone: z.their_received for z in agreed}
            self._store.start_over(
                self._peer, {z.number: t for z, t in held.items() if self._store.rights(self._peer, z) == Right.WRITE}
            )
        return agreed


def _expect(message: Message, kind: type[M]) -> M:
    if not isinstance(message, kind):
        raise unexpected(f"{type(message).__name__} in the place of {kind.__name__}")
    return message
