"""The exchange of one zone in a session (protocol.md 7.3 to 7.10)."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from .batch import Batch, Record
from .errors import ErrorCode, Malformed, SessionError, unexpected
from .messages import (
    REFUSED_LIMIT,
    Acknowledge,
    BatchMessage,
    Begin,
    Digest,
    Message,
    Reconcile,
    Refuse,
    Resync,
    Right,
    ZoneMessage,
)  # fmt: skip
from .negentropy import Negentropy
from .store import BATCH_BYTES, BATCH_RECORDS, OTHER_ZONE, READ_ONLY, TOO_LARGE, Store, Zone
from .tokens import START, Token

UNACKNOWLEDGED_LIMIT = 4
ROUNDS_LIMIT = 100_000
LAST_ROUND = (1 << 30) - 1


@dataclass
class Traffic:
    """How many records went each way in a session."""

    sent: int = 0
    received: int = 0
    reconciliations: int = 0


@dataclass
class Reconciliation:
    """A comparison by Negentropy that is under way (protocol.md 7.10), and the loose batches that follow it."""

    at_beginning: bool
    negentropy: Negentropy | None = None
    names: dict[bytes, str] = field(default_factory=dict)
    awaits_answer: bool = False
    ended: bool = False
    rounds: int = 0
    wanted: int = 0
    to_send: list[bytes] = field(default_factory=list)
    sent_last: bool = False
    applied_last: bool = False


class ZoneExchange:
    """What one side knows and does about one zone of the session."""

    def __init__(
        self, store: Store, peer: bytes, is_caller: bool, number: int, zone: Zone,
        post: Callable[[Message], None], traffic: Traffic, allowed_skew: int, compare_everything: bool,
    ) -> None:  # fmt: skip
        self._store = store
        self._peer = peer
        self._is_caller = is_caller
        self.number = number
        self.zone = zone
        self._post = post
        self._traffic = traffic
        self._allowed_skew = allowed_skew
        self._must_compare = compare_everything
        self._position = START
        self._echo = False
        self._own_begin: Begin | None = None
        self._their_begin: Begin | None = None
        self._waiting: deque[tuple[Token, bool]] = deque()  # batches without acknowledgement: token, loose
        self._owes_last = False
        self._snapshot: Token | None = None  # of a reconciliation at the beginning, until both have what they lacked
        self._reconciliation: Reconciliation | None = None
        self._round = 0
        self._has_begun_round = False  # because of unequal digests, and not found in sync since
        self._told: Digest | None = None
        self._heard: Digest | None = None
        self._in_sync: Digest | None = None  # the own digest with which the two were found in sync

    # The beginning (protocol.md 7.3)

    def begin(self, their_received: Token | None) -> None:
        """Decides where to begin sending, by the received token in the other's open."""
        is_given_out = their_received is not None and self._store.gave_out(their_received)
        check_expiry(self._store, self._peer, self.zone.number, their_received)
        void = their_received is not None and not is_given_out
        goes_on = is_given_out and their_received not in (None, START)
        self._position = their_received if goes_on else START._replace(horizon=self._store.forgotten(self.zone.number))
        count = self._store.sum(self.zone.number).count
        self._own_begin = Begin(self.number, void, self._position.sequence == 0, count)
        self._post(self._own_begin)

    @property
    def has_begun(self) -> bool:
        """Whether the other side's begin has come."""
        return self._their_begin is not None

    def handle(self, message: ZoneMessage) -> None:
        """Deals with a message of the running session about this zone."""
        match message:
            case Begin():
                self._take_begin(message)
            case _ if self._their_begin is None:
                raise unexpected("a zone is spoken of before it has begun")
            case BatchMessage():
                self._take_batch(message.batch)
            case Acknowledge():
                self._take_acknowledge(message.token)
            case Digest():
                self._heard = message
                self._compare(self._own_digest())
            case Resync():
                self._take_resync(message.round)
            case Reconcile():
                self._take_reconcile(message)
            case Refuse() if message.reason not in (READ_ONLY, OTHER_ZONE, TOO_LARGE):
                pass  # protocol.md 5.2: another reason is ignored
            case Refuse():
                # The other side refuses records of a batch before it acknowledges the batch.
                batch = self._waiting[0][0] if self._waiting else self._position
                self._store.note_refused(self._peer, message.reason, message.names, batch.sequence)
            case _:
                raise unexpected("a message does not belong here")

    def _take_begin(self, begin: Begin) -> None:
        if self._their_begin is not None:
            raise unexpected("a zone begins twice")
        assert self._own_begin is not None
        self._their_begin = begin
        self._store.mark_shared(self.zone.number)
        if self._position.sequence > 0:
            self._store.set_acknowledged(self._peer, self.zone.number, self._position.sequence)
        if begin.void:
            self._store.set_received_token(self._peer, self.zone.number, None)
            self._store.note_loss(self._peer, self.zone.number)
        if (begin.whole or self._own_begin.whole) and begin.count and self._own_begin.count:
            self._start_reconciliation(at_beginning=True)
        else:
            self._echo = begin.void

    # Sending (protocol.md 7.4)

    def advance(self) -> None:
        """Sends what can be sent now, and tells the digest when the zone is at rest."""
        if self._their_begin is None:
            return
        self._send_loose()
        if self._reconciliation is None:
            self._send_stream()
        if self.is_at_rest:
            own = self._own_digest()
            if self._told is not None and self._told.received is not None and own.received is None:
                self._begin_round()  # another program has mended the store (protocol.md 7.7)
                return
            if own != self._told:
                self._told = own
                self._post(own)
            if self._heard is not None and self._in_sync != own:
                self._compare(own)

    def _send_stream(self) -> None:
        while len(self._waiting) < UNACKNOWLEDGED_LIMIT:
            if self._store.rights(self._peer, self.zone) == Right.NOTHING:
                raise SessionError(ErrorCode.ZONES_CHANGED, f"the zone {self.zone.title} is not shared any more")
            batch = self._read_batch()
            if not batch.records and batch.token == self._position and not self._owes_last:
                return
            self._position = batch.token
            self._owes_last = False
            self._send(batch)

    def _read_batch(self) -> Batch:
        """What comes next. Without echo, states that came from this very peer are left out."""
        return self._store.read_batch(self.zone.number, self._position, set() if self._echo else {self._peer})

    def _send_loose(self) -> None:
        reconciliation = self._reconciliation
        while (
            reconciliation and reconciliation.ended and not reconciliation.sent_last
            and len(self._waiting) < UNACKNOWLEDGED_LIMIT
        ):  # fmt: skip
            records: list[Record] = []
            size = 0
            while reconciliation.to_send and len(records) < BATCH_RECORDS and size < BATCH_BYTES:
                wanted = reconciliation.to_send.pop()
                for name, state in self._store.records_by_id({wanted: reconciliation.names[wanted]}):
                    if state.is_too_large:
                        continue
                    size += state.size
                    records.append((name, state))
            reconciliation.sent_last = not reconciliation.to_send
            self._send(Batch(self._position, reconciliation.sent_last, True, records))
        self._end_reconciliation()

    def _send(self, batch: Batch) -> None:
        self._waiting.append((batch.token, batch.loose))
        self._traffic.sent += len(batch.records)
        self._post(BatchMessage(self.number, batch))

    def _take_acknowledge(self, token: Token) -> None:
        if all(token != waiting for waiting, _ in self._waiting):
            raise unexpected("an acknowledgement names no batch that waits for one")
        covered = None
        while covered != token:
            covered, loose = self._waiting.popleft()
            if not loose:
                self._store.acknowledge(self._peer, self.zone.number, covered.sequence)
        self._note_reconciled()

    # Applying (protocol.md 7.5)

    def _take_batch(self, batch: Batch) -> None:
        reconciliation = self._reconciliation
        if batch.loose and (reconciliation is None or not reconciliation.ended or reconciliation.applied_last):
            raise unexpected("a loose batch that no reconciliation has led to")
        guard_clock(self._store, batch, self._allowed_skew)
        applied = self._store.apply(self._peer, self.zone, batch)
        self._traffic.received += len(batch.records)
        for reason, names in applied.refused.items():
            for start in range(0, len(names), REFUSED_LIMIT):
                self._post(Refuse(self.number, reason, names[start : start + REFUSED_LIMIT]))
        self._post(Acknowledge(self.number, batch.token))
        if batch.loose and batch.last and reconciliation:
            reconciliation.applied_last = True
            self._end_reconciliation()

    # Digests (protocol.md 7.6)

    @property
    def is_at_rest(self) -> bool:
        """Nothing is on its way from this side. A batch is applied within one call, so none is being applied."""
        if self._their_begin is None or self._reconciliation or self._waiting or self._owes_last:
            return False
        batch = self._read_batch()
        return not batch.records and batch.token == self._position

    @property
    def is_done(self) -> bool:
        """Whether a session that was made for one sync is done with this zone."""
        if self._must_compare or self._in_sync is None or not self.is_at_rest:
            return False
        return self._in_sync == self._told == self._own_digest()

    def _own_digest(self) -> Digest:
        number = self.zone.number
        with self._store.snapshot():
            total = self._store.sum(number)
            return Digest(
                self.number, self._store.current_token, self._store.received_token(self._peer, number),
                total.count, total.sum, self._store.refused_count(self._peer, number),
            )  # fmt: skip

    def _compare(self, own: Digest) -> None:
        heard = self._heard
        if heard is None or self._reconciliation is not None:
            return
        if (heard.received or START) != own.current or (own.received or START) != heard.current:
            return  # something is on its way
        if (heard.count, heard.sum) == (own.count, own.sum) or heard.refused or own.refused:
            self._in_sync = own
            self._has_begun_round = False
            if self._must_compare:
                self._must_compare = False
                self._begin_round()
        elif self._has_begun_round:
            raise SessionError(ErrorCode.DIGEST_MISMATCH, "the two differ after everything was compared")
        else:
            self._has_begun_round = True
            self._begin_round()

    # Resync (protocol.md 7.7)

    def _begin_round(self) -> None:
        if self._round == LAST_ROUND:
            raise SessionError(ErrorCode.DIGEST_MISMATCH, "there were too many rounds")
        self._round += 1
        self._post(Resync(self.number, self._round))
        self._take_part()

    def _take_resync(self, round: int) -> None:
        if round <= self._round:
            return  # both have begun the same round at the same time
        if self._reconciliation is not None:
            raise unexpected("a resync while a reconciliation is under way")
        self._round = round
        self._take_part()

    def _take_part(self) -> None:
        self._told = self._heard = self._in_sync = None
        self._store.check(self.zone.number)
        self._start_reconciliation(at_beginning=False)

    # Reconciliation (protocol.md 7.10)

    def _start_reconciliation(self, at_beginning: bool) -> None:
        self._traffic.reconciliations += 1
        self._reconciliation = Reconciliation(at_beginning)
        if self._is_caller:
            negentropy = self._take_items(self._reconciliation)
            self._reconciliation.awaits_answer = True
            self._post(Reconcile(self.number, False, [], negentropy.first_message()))

    def _take_items(self, reconciliation: Reconciliation) -> Negentropy:
        """The items of this side and its current token with them, in one snapshot."""
        with self._store.snapshot():
            items = self._store.items(self.zone.number)
            if reconciliation.at_beginning:
                self._position = self._snapshot = self._store.current_token
        reconciliation.names = {item.id: name for item, name in items.items()}
        reconciliation.negentropy = Negentropy(items)
        return reconciliation.negentropy

    def _take_reconcile(self, message: Reconcile) -> None:
        reconciliation = self._reconciliation
        if reconciliation is None or reconciliation.ended:
            raise unexpected("a reconcile where nothing is reconciled")
        reconciliation.rounds += 1
        if reconciliation.rounds > ROUNDS_LIMIT:
            raise Malformed("a reconciliation does not end")
        if self._is_caller:
            self._take_answer(reconciliation, message)
        else:
            self._answer(reconciliation, message)

    def _take_answer(self, reconciliation: Reconciliation, message: Reconcile) -> None:
        if not reconciliation.awaits_answer or message.end or message.wanted:
            raise unexpected("an answer that was not asked for")
        assert reconciliation.negentropy is not None
        difference = reconciliation.negentropy.take(message.negentropy)
        reconciliation.to_send += difference.only_here
        reconciliation.ended = difference.message is None
        reconciliation.awaits_answer = not reconciliation.ended
        reply = Reconcile(self.number, reconciliation.ended, difference.only_there, difference.message or b"")
        self._post(reply)

    def _answer(self, reconciliation: Reconciliation, message: Reconcile) -> None:
        negentropy = reconciliation.negentropy
        if negentropy is None:
            negentropy = self._take_items(reconciliation)
        reconciliation.wanted += len(message.wanted)
        if reconciliation.wanted > len(negentropy):
            raise Malformed("the other side wants more records than there are")
        reconciliation.to_send += [wanted for wanted in message.wanted if wanted in reconciliation.names]
        if message.end:
            reconciliation.ended = True
        else:
            self._post(Reconcile(self.number, False, [], negentropy.answer(message.negentropy)))

    def _end_reconciliation(self) -> None:
        """When both sides have sent and applied everything, the stream goes on, and must end once more."""
        if self._reconciliation and self._reconciliation.sent_last and self._reconciliation.applied_last:
            self._reconciliation = None
            self._owes_last = True
            self._note_reconciled()

    def _note_reconciled(self) -> None:
        """The other side has all that the snapshot covers when each side has what it lacked."""
        if self._snapshot and not self._reconciliation and not any(loose for _, loose in self._waiting):
            self._store.acknowledge(self._peer, self.zone.number, self._snapshot.sequence)
            self._snapshot = None


def check_expiry(store: Store, peer: bytes, zone: int, received: Token | None) -> None:
    """Refuses a peer that may hold records whose deletion this store has forgotten (protocol.md 7.9).

    `received` is the peer's received token, as it names it.
    """
    acknowledged = store.acknowledged(peer, zone)
    if received == START or (received is None and acknowledged == 0):
        return
    known = acknowledged
    if received is not None and store.gave_out(received):
        known = max(received.sequence, received.horizon)
    if known < store.forgotten(zone):
        raise SessionError(ErrorCode.CHANGE_TOKEN_EXPIRED, "deletions that you have not seen are forgotten here")


def guard_clock(store: Store, batch: Batch, allowed_skew: int) -> None:
    """Refuses a batch with a stamp too far in the future whole (protocol.md 7.5)."""
    newest = max((state.newest_stamp for _, state in batch.records), default=None)
    clock = store.now()
    if newest is not None and newest.milliseconds > clock + allowed_skew:
        sentence = f"a record was written at {newest.milliseconds} ms by the clock of its machine; here it is {clock} ms"
        raise SessionError(ErrorCode.CLOCK_SKEW, sentence)
