"""Reading the heads and logs of others (mailbox.md 6, 7, 8)."""

import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from ..assets import AssetFolder
from ..errors import PeerError
from ..exchange import check_expiry, guard_clock
from ..messages import Right
from ..records import replica_id
from ..store import Store, Zone
from ..tokens import START, Token
from .folder import Folder
from .head import Head, OtherVersion, open_head
from .memory import BUILDING, NAMED, OLD, Memory
from .sealing import Author, Damaged
from .section import HasRead, ZoneSection
from .segment import Signer, open_piece, open_segment, piece_name, pieces_of, segment_name

HEADS = "heads"
AUTHORS_LIMIT = 1000
_HEAD_NAME = re.compile(r"([0-9a-f]{32})-([0-9a-f]{16})")


def head_name(author_id: bytes, counter: int) -> str:
    return f"{HEADS}/{author_id.hex()}-{counter:016x}"


def head_object(counter: int) -> bytes:
    """What names a head among the objects of its author."""
    return counter.to_bytes(16, "big")


COUNTERS = 1 << 62
"""The bound of counters (mailbox.md 11)."""


def greatest_counters(folder: Folder, own: bytes | None = None) -> dict[bytes, int]:
    """Of each author the greatest counter of the heads that lie there. `own` is the id of this one, if it is one."""
    found: dict[bytes, int] = {}
    for name in folder.list(HEADS):
        if match := _HEAD_NAME.fullmatch(name):
            author, counter = bytes.fromhex(match[1]), int(match[2], 16)
            if counter >= (COUNTERS // 2 if author == own else COUNTERS):
                continue
            found[author] = max(counter, found.get(author, -1))
    return found


@dataclass(frozen=True)
class PeerHead:
    """A peer's head that this machine has opened."""

    signer: Signer
    head: Head

    def zone(self, zone: Zone) -> ZoneSection | None:
        return next((section for section in self.head.zones if section.zone == zone.id), None)


class MailboxReader:
    """One pass over what others have put into a mailbox."""

    def __init__(self, store: Store, folder: Folder, memory: Memory, allowed_skew: int, tell: Callable[[str], None]) -> None:
        self._store = store
        self._folder = folder
        self._memory = memory
        self._author = Author(store.identity)
        self._allowed_skew = allowed_skew
        self._tell = tell
        self.heads: dict[bytes, PeerHead] = {}
        """By static key: the newest head of each peer that this machine has opened."""
        self.records = 0
        """How many came in segments."""
        self.damaged: set[tuple[int | None, bytes, bytes]] = set()
        """What could not be opened: the zone, none for a head; the static key of the author; and what names the object."""
        self.is_behind = False
        """Whether a head that came now is older than what came in a session (mailbox.md 5.2)."""
        self._new: set[bytes] = set()
        self.is_restored = False
        """Whether a peer holds a token of the present history that this store never gave out (mailbox.md 10)."""

    # Heads (mailbox.md 6)

    def take_heads(self, listed: dict[bytes, int]) -> None:
        """Opens the heads, and takes in the household until it brings no further peers."""
        self._open_remembered(listed)
        told: set[bytes] = set()
        while True:
            self._open_listed(listed, told)
            peers = self._store.peers().keys()
            for key, entry in self.heads.items():
                if entry.head.household is not None and self._store.hears(key):
                    self._store.take_household(entry.head.household)
            self.heads = {key: entry for key, entry in self.heads.items() if self._store.peer_name(key) is not None}
            if self._store.peers().keys() <= peers:
                return

    def _open_remembered(self, listed: dict[bytes, int]) -> None:
        for author, counter, key, content in self._memory.heads():
            name = self._store.peer_name(key)
            if name is None:
                continue
            head = open_head(self._author, key, author, counter, content) if content else None
            if head is not None:
                self.heads[key] = PeerHead(Signer(key, author, head.verification_key), head)
            went_back = listed.get(author, -1) < counter and not self._folder.has(head_name(author, counter))
            if went_back and author not in listed and not self._folder.list(author.hex()):
                self._tell(f"everything of {name} is gone")
                self.heads.pop(key, None)  # nobody can read any more what it had put
            elif went_back:
                self._tell(f"the storage went back: it has no head of {name} that is as new as the last one")

    def _open_listed(self, listed: dict[bytes, int], told: set[bytes]) -> None:
        # One that was forgotten is heard again.
        known = {author: counter if content else counter - 1 for author, counter, _, content in self._memory.heads()}
        new = list(listed.keys() - {*known, *told, self._author.id})
        secrets.SystemRandom().shuffle(new)
        for author in [*(author for author in listed if author in known), *new[: max(AUTHORS_LIMIT - len(known), 0)]]:
            if listed[author] <= known.get(author, -1) or author in told:
                continue
            content = self._folder.get(head_name(author, listed[author]))
            if content is None:
                continue  # it has not come yet
            try:
                self._open(author, listed[author], content)
            except OtherVersion as error:
                told.add(author)
                self._tell(f"{self._name_of(author)}: {error}")
            except Damaged as error:
                told.add(author)
                self._tell(f"the head of {self._name_of(author)} is damaged: {error}")
                key = next((key for known, _, key, _ in self._memory.heads() if known == author), None)
                if key is not None:
                    self.damaged.add((None, key, head_object(listed[author])))

    def _name_of(self, author: bytes) -> str:
        for known, _, key, _ in self._memory.heads():
            if known == author and (name := self._store.peer_name(key)):
                return name
        return f"the author {author.hex()}"

    def _open(self, author: bytes, counter: int, content: bytes) -> None:
        # Of a machine that is known as an author, nobody else can write under another id.
        known_keys = {key: known for known, _, key, _ in self._memory.heads()}
        for key in self._store.peers():
            if known_keys.get(key, author) != author:
                continue
            head = open_head(self._author, key, author, counter, content)
            if head is None:
                continue
            self._memory.keep_head(author, counter, key, content)
            self._new.add(key)
            self.heads[key] = PeerHead(Signer(key, author, head.verification_key), head)
            self._take_rights(key, head)
            return
        for known, _, key, _ in self._memory.heads():
            if known == author:
                self._end_refusals(key, self._store.zones())
        self._memory.forget_head(author)
        self.heads = {key: entry for key, entry in self.heads.items() if entry.signer.id != author}

    def _take_rights(self, key: bytes, head: Head) -> None:
        for section, rights in zip(head.zones, head.rights):
            zone = self._store.zone(section.zone)
            if zone is not None and rights == Right.WRITE:
                self._store.send_refused_again(key, zone.number)

    # Logs

    def read_logs(self) -> None:
        for key, entry in self.heads.items():
            told = {section.zone for section in entry.head.zones}
            self._end_refusals(key, [zone for zone in self._store.zones() if zone.id not in told])
            for section in entry.head.zones:
                zone = self._store.zone(section.zone)
                if zone is None:
                    continue
                try:
                    self._read_zone(key, entry, section, zone)
                except Damaged as error:
                    self._tell(f"the log of {self._store.peer_name(key)} in {zone.title} is damaged: {error}")
                except PeerError as error:
                    self._tell(f"the log of {self._store.peer_name(key)} in {zone.title} is not read: {error}")

    def _read_zone(self, key: bytes, entry: PeerHead, section: ZoneSection, zone: Zone) -> None:
        of_us = section.read_of(self._store.replica)
        self._take_acknowledgement(key, zone, section, of_us)
        self._take_refused(key, section, zone, of_us)
        if self._store.rights(key, zone) != Right.WRITE:
            return
        check_expiry(self._store, key, zone.number, of_us.token if of_us else None)
        self._check_own_expiry(key, section, zone)
        if section.base == 0:
            return  # the author is not done with the base
        self._note_other_history(key, section, zone)
        start = self._where_to_go_on(key, section, zone)
        if start is None:
            self.is_behind |= key in self._new
            return
        self._memory.note_read(zone.number, key, section.history, section.log, start)
        for number in range(start + 1, section.segments + 1):
            if not self._read_segment(key, entry.signer, section, zone, number):
                return
        newest = self._newer(section, section.covered, self._store.received_token(key, zone.number))
        self._store.set_received_token(key, zone.number, newest)
        self._store.note_read(key, zone.number, section.covered.sequence)

    def _take_acknowledgement(self, key: bytes, zone: Zone, section: ZoneSection, of_us: HasRead | None) -> None:
        """The other side's token of this machine counts as in a session (mailbox.md 6.3), unless more is known."""
        token = of_us.token if of_us else None
        if of_us is not None and token is not None and self._store.gave_out(token):
            known = self._store.acknowledged(key, zone.number)
            if token.sequence > known:
                held = self._end_of_held(key, zone, section, of_us, token.sequence, known)
                self._store.acknowledge(key, zone.number, max(known, held))
        elif of_us is not None and token is not None and token.sequence >= self._first_number():
            log = self._memory.log(zone.number, NAMED)
            self.is_restored |= log is not None and log.history == of_us.history

    def _end_of_held(
        self, key: bytes, zone: Zone, section: ZoneSection, of_us: HasRead, end: int, known: int
    ) -> int:
        """How far a peer holds what its token covers: what own logs leave out it may not have read yet (mailbox.md 6.3)."""
        if of_us.segment == 0:
            return end
        logs = [log for role in (BUILDING, NAMED, OLD) for log in self._memory.logs(zone.number, role)]
        log = next((log for log in logs if log.id == of_us.log), None)
        if log is None:
            return known
        is_base_read = log.whole and 0 < log.base <= of_us.segment
        entries = [entry for one in ([log] if is_base_read else logs) for entry in self._memory.left_out(one.id).items()]
        left_out = {(peer, history) for peer, history in entries if peer != key}
        if all(self._has_all_of(section, zone, peer, history) for peer, history in left_out):
            return end
        after = max(known, log.segments[log.base - 1][0].sequence if is_base_read else 0)
        first = self._store.first_from({peer for peer, _ in left_out}, zone.number, after)
        return end if first is None else min(end, first - 1)

    def _has_all_of(self, section: ZoneSection, zone: Zone, peer: bytes, history: bytes) -> bool:
        """Whether a head says that the log of an author is read to the end that the author's head names."""
        theirs = self.heads[peer].zone(zone) if peer in self.heads else None
        read = section.read_of(replica_id(peer))
        if theirs is None or theirs.base == 0 or theirs.history != history or read is None:
            return False
        return (read.history, read.log) == (history, theirs.log) and read.segment >= theirs.segments

    def _first_number(self) -> int:
        """The first number of all generations that the store keeps."""
        return min((first for _, first in self._store.generations), default=0)

    def _take_refused(self, key: bytes, section: ZoneSection, zone: Zone, of_us: HasRead | None) -> None:
        """What the author has refused of this machine (mailbox.md 6.5)."""
        if section.refused is None:
            return
        entry = section.refused_of(self._store.replica)
        token = of_us.token if of_us else None
        new = self._store.take_refused(
            self._memory.number, key, zone.number, entry.records if entry else [], token.sequence if token else 0
        )
        further = f", and {entry.further} more" if entry and entry.further else ""
        if new:
            self._tell(f"{self._store.peer_name(key)} does not take {', '.join(new)}{further}")

    def _end_refusals(self, key: bytes, zones: Iterable[Zone]) -> None:
        """The author says nothing of these zones (any more), so nothing waits for it there (mailbox.md 6.5)."""
        for zone in zones:
            self._store.take_refused(self._memory.number, key, zone.number, [], 0)

    def _check_own_expiry(self, key: bytes, section: ZoneSection, zone: Zone) -> None:
        """Whether the author has forgotten deletions that this machine has not seen (mailbox.md 6.4)."""
        held = self._store.received_token(key, zone.number)
        if held is None or held.sequence == 0 and held.horizon == 0:
            return
        if max(held.sequence, held.horizon) < section.forgotten:
            raise PeerError("deletions that this machine has not seen are forgotten there: it has to start over")

    def _note_other_history(self, key: bytes, section: ZoneSection, zone: Zone) -> None:
        """What came in another history of the author, the own log must not leave out (mailbox.md 5.3)."""
        known = self._memory.has_read(zone.number, key).history
        held = self._store.received_token(key, zone.number)
        if held not in (None, START) and known != section.history and not section.covers(held, held):
            self._store.note_loss(key, zone.number)

    def _where_to_go_on(self, key: bytes, section: ZoneSection, zone: Zone) -> int | None:
        """After which segment this machine goes on (mailbox.md 6.2); None if the log has nothing for it."""
        known = self._memory.has_read(zone.number, key)
        held: Token | None = self._store.received_token(key, zone.number)
        if held in (None, START):
            return 0  # this machine has given up what it had of the author
        has_read_of_it = (known.history, known.log) == (section.history, section.log)
        if known.history not in (bytes(16), section.history) and not section.covers(held, section.covered):
            # The author has ended that history, and the new one does not cover the token.
            self._store.set_received_token(key, zone.number, None)
            return 0
        is_beyond = has_read_of_it and known.segment > section.segments
        is_in_base = has_read_of_it and known.segment < section.base
        is_foreign = known.history == section.history and not is_in_base and self._disowns(section, held)
        if is_beyond or is_foreign:
            # The author was set back to a backup, and has written other segments since. What is here of it, it may have lost.
            self._store.set_received_token(key, zone.number, None)
            self._store.note_loss(key, zone.number)
            return 0
        if self._store.compared(key, zone.number):
            return known.segment if has_read_of_it else 0  # the token covers deletions that nobody has told
        if section.whole and not has_read_of_it:
            return 0
        if held.sequence > section.covered.sequence:
            if section.history == known.history:
                return None  # it came in a session, and is newer than the head
            held = None
        ends = range(section.base, section.segments + 1)
        covered = [n for n in ends if held is not None and section.covers(section.end(n), held)]
        if has_read_of_it:
            return max([known.segment, *covered])
        if not section.whole and covered:
            return covered[-1]
        return 0

    @staticmethod
    def _disowns(section: ZoneSection, held: Token) -> bool:
        """Whether a token is none of the author's, although its head tells of that number (mailbox.md 6.2)."""
        known = min((number for _, number in section.generations), default=held.sequence + 1)
        return known <= held.sequence <= section.covered.sequence and not section.covers(held, held)

    @staticmethod
    def _newer(section: ZoneSection, token: Token, held: Token | None) -> Token:
        """The received token after one of the log: a session may have brought this machine further (mailbox.md 6.2)."""
        if held is None or held.sequence < token.sequence:
            return token
        return held if held.sequence > token.sequence or section.covers(held, held) else token

    def _read_segment(self, key: bytes, signer: Signer, section: ZoneSection, zone: Zone, number: int) -> bool:
        """Reads a segment whole or not at all. False if it has not come yet, or may not be read any more."""
        if self._store.rights(key, zone) != Right.WRITE or self._store.peer_name(key) is None:
            return False
        name = segment_name(section.log_key, number)
        content = self._folder.get(f"{signer.id.hex()}/{name}")
        if content is None:
            return False
        try:
            batch = open_segment(
                signer, section.log, section.log_key, number, section.zone, content, section.last_number(number)
            )
        except Damaged:
            self.damaged.add((zone.number, key, bytes.fromhex(name)))
            raise
        guard_clock(self._store, batch, self._allowed_skew)
        with self._store.transaction():
            held = self._store.received_token(key, zone.number)
            if number == 1 and (held is None or held.sequence <= section.covered.sequence):
                self._store.forget_own_refusals(key, zone.number)  # they come again
            applied = self._store.apply(key, zone, replace(batch, token=self._newer(section, batch.token, held)))
            self._memory.note_read(zone.number, key, section.history, section.log, number)
        self.records += len(batch.records)
        for names in applied.refused.values():
            self._tell(f"{len(names)} records of {self._store.peer_name(key)} were not taken")
        return True

    def told_damaged(self) -> set[bytes]:
        """The objects of this machine that others could not open, as their new heads tell (mailbox.md 10)."""
        sections = [section for key in self._new & self.heads.keys() for section in self.heads[key].head.zones]
        told = [entry for section in sections for entry in section.damaged]
        return {entry.object for entry in told if entry.replica == self._store.replica}

    # Files (mailbox.md 8)

    def fetch_files(self) -> int:
        """Fetches the files that live records refer to; gives how many came."""
        fetched = 0
        for zone in self._store.zones():
            for hash in wanted_files(self._store, zone):
                fetched += any(self._fetch(entry, zone, hash) for entry in self.heads.values())
        return fetched

    def _fetch(self, entry: PeerHead, zone: Zone, hash: bytes) -> bool:
        section = entry.zone(zone)
        offer = next((offer for offer in section.offered if offer.hash == hash), None) if section else None
        if section is None or offer is None:
            return False
        content = b""
        try:
            epoch, file_key = section.file_keys[offer.key]
            for piece in range(pieces_of(offer.size)):
                name = piece_name(file_key, hash, piece)
                sealed = self._folder.get(f"{entry.signer.id.hex()}/{name}")
                if sealed is None:
                    return False
                try:
                    content += open_piece(entry.signer, epoch, file_key, hash, piece, sealed)
                except Damaged:
                    self.damaged.add((zone.number, entry.signer.key, bytes.fromhex(name)))
                    raise
            return self._keep(hash, content)
        except Damaged as error:
            self._tell(f"a file of {self._store.peer_name(entry.signer.key)} is damaged: {error}")
            return False

    def _keep(self, hash: bytes, content: bytes) -> bool:
        folder = AssetFolder(self._store.assets_directory)
        folder.partial(hash).write_bytes(content)
        if not folder.finish(hash):
            raise Damaged("its hash is another one")
        return True


def wanted_files(store: Store, zone: Zone) -> list[bytes]:
    """The files that live records of a zone refer to, and that are not here. An empty one is always here."""
    folder = AssetFolder(store.assets_directory)
    return sorted(hash for hash, size in store.assets([zone.number]).items() if size and not folder.has(hash))
