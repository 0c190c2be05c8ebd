"""A session: everything that happens on one connection after its handshake (protocol.md 7, 10, 11)."""

import asyncio
import secrets
import sqlite3
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from .assets import AssetFetcher, AssetServer
from .channel import SILENCE_SECONDS, Channel
from .errors import (
    ConnectionCut,
    ErrorCode,
    Malformed,
    RemoteError,
    RemoteGoodbye,
    SessionError,
    unexpected,
)  # fmt: skip
from .exchange import Traffic, ZoneExchange
from .greeting import Greeting
from .household import Household
from .messages import (
    AssetChunk,
    AssetMissing,
    AssetRequest,
    AssetsAvailable,
    AssetsWanted,
    Digest,
    Error,
    Goodbye,
    Hello,
    HouseholdDigest,
    HouseholdSet,
    Message,
    Open,
    PairingShare,
    PairingTag,
    Ping,
    Pong,
    Right,
    Union,
    ZoneMessage,
    decode,
)  # fmt: skip
from .names import ZoneID
from .pairing import Desk
from .store import Store

PING_SECONDS = 15
LAST_MESSAGE_SECONDS = 2
FILE_STEP_SECONDS = 60
WATCH_SECONDS = 0.1
QUEUE_LIMIT = 1024
INSTANCE = secrets.randbits(64)
"""A number that each run of the program draws at random (protocol.md 7.1)."""


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    name: str
    code: str | None = None
    pair_again: bool = False
    once: bool = False
    union: Union | None = None
    starts_over: bool = False
    may_be_replaced: bool = False
    compare_everything: bool = False
    allowed_skew: int = 300_000
    trace: bool = False
    instance: int = INSTANCE


@dataclass(frozen=True)
class Summary:
    """How a zone stood when the session ended."""

    zone: str
    count: int
    fingerprint: str


class Session:
    """One side of a session."""

    def __init__(
        self, channel: Channel, store: Store, is_caller: bool, options: Options, desk: Desk | None = None,
        report: Callable[[str], None] = lambda line: None,
    ) -> None:  # fmt: skip
        self._channel = channel
        self._store = store
        self._is_caller = is_caller
        self._options = options
        self._desk = desk
        self._report = report
        self._queue: deque[bytes] = deque()
        self._queued = asyncio.Event()
        self._drained = asyncio.Event()
        self._stopping = asyncio.Event()
        self._is_open = False  # the opens are exchanged: from now on there are pings, and silence counts
        self._zones: list[ZoneExchange] = []
        self._fetcher: AssetFetcher | None = None
        self._server: AssetServer | None = None
        self._they_want: AssetsWanted | None = None
        self._told_household: bytes | None = None  # the digest in the last household message
        self._sent_household: bytes | None = None  # the digest of the set in the last householdSet
        self._has_heard_household = False
        self._last_file_step: float | None = None  # since when files alone are waited for, or their last step
        self._was_in_sync = False
        self.traffic = Traffic()
        self.peer_name = "unnamed"
        self.is_in_sync = False
        """Whether everything was in sync when the session ended."""

    async def run(self) -> None:
        """Runs the session to its end. Raises what ended it, unless that was a goodbye."""
        writing = asyncio.create_task(self._write())
        try:
            try:
                await self._greet()
                await self._exchange()
            except Malformed as error:
                raise SessionError(ErrorCode.MALFORMED, str(error)) from None
            except (sqlite3.Error, OSError) as error:
                raise SessionError(ErrorCode.STORE_FAILURE, f"the store cannot be used: {error}") from error
        except SessionError as error:
            self._enqueue(Error(error.code, error.sentence))
            await self._flush()
            raise
        except RemoteGoodbye:
            if not self.is_running:
                raise ConnectionCut("the connection ended too early") from None
            if not self._stopping.is_set():
                self._enqueue(Goodbye())
                await self._flush()
        except ConnectionCut:
            if not self._stopping.is_set():
                raise
        finally:
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
            await self._channel.close()

    def stop(self) -> None:
        """Ends the session with a goodbye."""
        self._stopping.set()

    @property
    def is_running(self) -> bool:
        return bool(self._zones)

    def summaries(self) -> list[Summary]:
        result = []
        for exchange in self._zones:
            total = self._store.sum(exchange.zone.number)
            result.append(Summary(exchange.zone.id.name, total.count, total.fingerprint.hex()))
        return result

    # Sending

    def _post(self, message: Message) -> None:
        if len(self._queue) >= QUEUE_LIMIT:
            raise SessionError(ErrorCode.TIMEOUT, "the other side does not read")
        if isinstance(message, Digest) and self._fetcher:
            self._fetcher.before_digest()
        self._enqueue(message)

    def _enqueue(self, message: Message) -> None:
        self._trace("->", message)
        self._queue.append(message.encode())
        self._queued.set()
        self._drained.clear()

    def _trace(self, direction: str, message: Message | None) -> None:
        if self._options.trace:
            print(direction, repr(message)[:1500], file=sys.stderr, flush=True)

    async def _write(self) -> None:
        """Sends what is queued, and pieces of files only when nothing else is there to send."""
        while True:
            while self._queue:
                await self._channel.send(self._queue.popleft())
            piece = self._server.next_message() if self._server else None
            if piece is not None:
                await self._channel.send(piece.encode())
                self._note_file_step()
                continue
            self._drained.set()
            self._queued.clear()
            await self._queued.wait()

    async def _flush(self) -> None:
        """Waits until the last message has left (protocol.md 10, 11)."""
        try:
            async with asyncio.timeout(LAST_MESSAGE_SECONDS):
                await self._drained.wait()
        except TimeoutError:
            pass

    # Receiving

    async def _receive(self) -> Message:
        """The next message that means anything here."""
        while True:
            message = decode(await self._channel.receive(SILENCE_SECONDS if self._is_open else None))
            self._trace("<-", message)
            match message:
                case None:
                    continue
                case Error():
                    raise RemoteError(message.code, message.sentence)
                case Goodbye():
                    raise RemoteGoodbye
                case Pong():
                    continue
                case Ping() if self._is_open:
                    self._post(Pong(message.content))
                case _:
                    return message

    async def _greet(self) -> None:
        options = self._options
        greeting = Greeting(
            self._channel, self._store, self._is_caller, options.name, options.instance, self._receive, self._post
        )
        own, theirs = await greeting.hellos(options.code, options.pair_again, self._desk)
        self.peer_name = self._store.peer_name(self._channel.remote_key) or theirs.name
        if greeting.paired_with is not None:
            self._report(f"paired with {self.peer_name}")
        self._report(f"connected with {self.peer_name}")
        agreed = await greeting.agree(own, theirs, options.union, options.starts_over, options.may_be_replaced)
        self._is_open = True
        self._store.introduce_if_due(self._channel.remote_key, any(zone.zone.is_default for zone in agreed))
        for number, zone in enumerate(agreed):
            exchange = ZoneExchange(
                self._store, self._channel.remote_key, self._is_caller, number, zone.zone, self._post, self.traffic,
                options.allowed_skew, options.compare_everything,
            )  # fmt: skip
            if zone.may_write_there:
                self._store.send_refused_again(self._channel.remote_key, zone.zone.number)
            self._zones.append(exchange)
        numbers = [zone.zone.number for zone in agreed]
        self._fetcher = AssetFetcher(self._store, numbers, self._post)
        self._server = AssetServer(self._store, numbers)
        for exchange, zone in zip(self._zones, agreed):
            exchange.begin(zone.their_received)
        self._tell_household()

    async def _exchange(self) -> None:
        """Reads, watches the store and pings until one of the two ends the session."""
        tasks = [asyncio.create_task(work) for work in (self._read(), self._watch(), self._ping(), self._end())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            task.result()

    async def _read(self) -> None:
        while True:
            message = await self._receive()
            if not self._stopping.is_set():
                self._handle(message)
                self.advance()
            elif isinstance(message, HouseholdSet):
                self._take_household(message)

    async def _watch(self) -> None:
        """Looks for changes that other sessions and programs have made."""
        version = None
        shared = self._shared_zones()
        while True:
            if not self._stopping.is_set():
                if self._store.version != version:
                    version = self._store.version
                    if self._store.peer_name(self._channel.remote_key) is None:
                        raise self._store.refusal(self._channel.remote_key)
                    if self._shared_zones() != shared:
                        raise SessionError(ErrorCode.ZONES_CHANGED, "what the two let each other have has changed")
                    self._tell_household()
                    self.advance()
                news = self._server.news() if self._server else None
                if news:
                    self._post(news)
                self._give_up_files()
            await asyncio.sleep(WATCH_SECONDS)

    def _shared_zones(self) -> dict[ZoneID, Right]:
        """The zones in which the other side may do anything, and what."""
        rights = {zone.id: self._store.rights(self._channel.remote_key, zone) for zone in self._store.zones()}
        return {zone: right for zone, right in rights.items() if right != Right.NOTHING}

    async def _ping(self) -> None:
        while True:
            await asyncio.sleep(PING_SECONDS)
            if not self._stopping.is_set():
                self._post(Ping(secrets.token_bytes(8)))

    async def _end(self) -> None:
        """Says goodbye when it is time, and waits for the answer (protocol.md 11)."""
        await self._stopping.wait()
        self._enqueue(Goodbye())
        await asyncio.sleep(LAST_MESSAGE_SECONDS)

    def _handle(self, message: Message) -> None:
        assert self._fetcher is not None and self._server is not None
        match message:
            case ZoneMessage():
                if message.zone >= len(self._zones):
                    raise Malformed("no zone of this session has that number")
                self._zones[message.zone].handle(message)
            case AssetRequest():
                self._server.take_request(message)
                self._queued.set()
                self._note_file_step()
            case AssetChunk():
                self._fetcher.take_chunk(message)
                self._note_file_step()
            case AssetMissing():
                self._fetcher.take_missing(message)
                self._note_file_step()
            case AssetsAvailable():
                self._fetcher.take_available(message)
            case AssetsWanted():
                if self._they_want is None or message.bytes < self._they_want.bytes:
                    self._note_file_step()
                self._they_want = message
            case HouseholdDigest() | HouseholdSet():
                self._take_household(message)
            case Hello() | PairingShare() | PairingTag() | Open():
                raise unexpected(f"{type(message).__name__} after the greeting")

    # The household (protocol.md 7.13)

    def _tell_household(self) -> None:
        if not self._store.tells(self._channel.remote_key):
            return
        digest = self._store.household.digest
        if digest != self._told_household:
            self._told_household = digest
            self._post(HouseholdDigest(digest))

    def _take_household(self, message: HouseholdDigest | HouseholdSet) -> None:
        if not all(exchange.has_begun for exchange in self._zones):
            raise unexpected("the household is spoken of before the zones have begun")
        peer = self._channel.remote_key
        match message:
            case HouseholdDigest():
                household = self._store.household
                is_news = not self._has_heard_household or household.digest != message.digest
                self._has_heard_household = True
                if self._store.tells(peer) and is_news:
                    self._send_household(household)
            case HouseholdSet() if self._store.hears(peer):
                self._store.take_household(message.household)
                if not self._stopping.is_set():
                    self._tell_household()
                    household = self._store.household
                    is_news = household.digest not in (message.household.digest, self._sent_household)
                    if self._store.tells(peer) and is_news:
                        self._send_household(household)

    def _send_household(self, household: Household) -> None:
        self._sent_household = household.digest
        self._post(HouseholdSet(household))

    def advance(self) -> None:
        """Sends what there is to send, and ends a session for one sync that is done."""
        assert self._fetcher is not None
        self._fetcher.advance()
        for exchange in self._zones:
            exchange.advance()
        are_records_in_sync = all(exchange.is_done for exchange in self._zones)
        if are_records_in_sync and self._last_file_step is None:
            self._last_file_step = time.monotonic()
        self.is_in_sync = are_records_in_sync and self._wants_nothing
        if self.is_in_sync and not self._was_in_sync:
            for summary in self.summaries():
                self._report(f"in sync: {summary.zone}, {summary.count} records, digest {summary.fingerprint}")
        self._was_in_sync = self.is_in_sync
        if self.is_in_sync and self._options.once:
            self.stop()

    @property
    def _wants_nothing(self) -> bool:
        they = self._they_want
        return self._fetcher is not None and self._fetcher.is_done and they is not None and they.files == 0

    def _note_file_step(self) -> None:
        if self._last_file_step is not None:
            self._last_file_step = time.monotonic()

    def _give_up_files(self) -> None:
        """Ends a sync that was asked for once, when the other side does not go on with its files (protocol.md 7.11)."""
        is_waiting = self._options.once and not self.is_in_sync and all(exchange.is_done for exchange in self._zones)
        last_step = self._last_file_step
        if is_waiting and last_step is not None and time.monotonic() - last_step > FILE_STEP_SECONDS:
            self._report("files may be missing: the other side does not go on with them")
            self.is_in_sync = True
            self.stop()
