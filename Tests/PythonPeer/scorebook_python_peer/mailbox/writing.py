"""Writing the own log, files and head (mailbox.md 3, 5, 8)."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from ..batch import Batch
from ..messages import Right
from ..records import replica_id
from ..store import Store, Zone
from ..tokens import START
from ..wire import Writer
from .files import FileWriter
from .folder import Folder
from .head import Draft
from .memory import BUILDING, NAMED, Log, Memory
from .reading import MailboxReader, head_name, head_object, wanted_files
from .sealing import Author
from .section import (
    DAMAGED_LIMIT,
    FILES_LIMIT,
    REFUSED_LIMIT,
    REFUSED_NAMES,
    DamagedObject,
    HasRead,
    Refused,
    ZoneSection,
)  # fmt: skip
from .segment import seal_segment, segment_name

SEGMENTS_AFTER_BASE = 512
BYTES_AFTER_BASE = 256 << 10


@dataclass(frozen=True)
class NewLog:
    """That a log has to begin, and how (mailbox.md 5.4)."""

    why: str
    is_whole: bool = False
    has_new_history: bool = False


class MailboxWriter:
    """One pass of writing. It begins when the pass of reading has ended."""

    def __init__(
        self, store: Store, folder: Folder, memory: Memory, reader: MailboxReader, tell: Callable[[str], None]
    ) -> None:
        self._store = store
        self._folder = folder
        self._memory = memory
        self._author = Author(store.identity)
        self._heads = reader.heads
        self._damaged = reader.damaged
        self._tell = tell
        self._files = FileWriter(store, folder, memory, reader.heads)
        self.needs_head = reader.records > 0 or reader.is_behind or memory.counter == 0
        self.segments = 0
        """How many were put."""

    def readers(self, zone: Zone) -> dict[bytes, Right]:
        """The peers that may read a zone."""
        rights = {key: self._store.rights(key, zone) for key in self._store.peers()}
        return {key: right for key, right in rights.items() if right != Right.NOTHING}

    def section_of(self, key: bytes, zone: Zone) -> ZoneSection | None:
        """What a peer's head says of a zone."""
        return self._heads[key].zone(zone) if key in self._heads else None

    # Logs (mailbox.md 5)

    def write_logs(self, new_history: bool, everything_anew: bool) -> None:
        for zone in self._store.zones():
            if not self.readers(zone):
                self._memory.give_up_logs(zone.number)  # the cleaner removes what they had
                self._files.write(zone, {})
                continue
            self._begin_log_if_need_be(zone, new_history, everything_anew)
            log = self._memory.log(zone.number, BUILDING) or self._memory.log(zone.number, NAMED)
            assert log is not None
            self._memory.note_readers(log.id, self.readers(zone))
            if log.base == 0:
                self._write_base(zone, log)
            else:
                self._write_changes(zone, log)
            self._files.write(zone, self.readers(zone))

    def _begin_log_if_need_be(self, zone: Zone, new_history: bool, everything_anew: bool) -> None:
        named = self._memory.log(zone.number, NAMED)
        building = self._memory.log(zone.number, BUILDING)
        if new_history and (named or building):
            new = NewLog("the store is not the one that wrote it", True, True)
        elif everything_anew and named:
            new = NewLog("the storage went back")
        elif building is not None:
            new = self._why_new(zone, building)
        elif named is not None:
            new = self._why_new(zone, named)
        else:
            new = NewLog("it is the first")
        if new is None:
            return
        former = building or named
        given_up = None if former else self._memory.given_up(zone.number)
        history = former.history if former else given_up
        if history is None or new.has_new_history:
            history = secrets.token_bytes(16)
        is_whole = new.is_whole or (former is not None and former.whole and not self._is_known_to_all(zone, former))
        # It is not the first of the zone if nobody might read there for a while.
        is_whole |= given_up is not None
        self._memory.begin_log(zone, history, is_whole, START._replace(horizon=self._store.forgotten(zone.number)))
        if named is not None and not is_whole:
            begun = self._memory.log(zone.number, BUILDING)
            for peer, peer_history in self._memory.left_out(named.id).items():
                self._memory.note_left_out(begun.id, peer, peer_history)
        if former is not None:
            self._tell(f"the log of {zone.title} begins anew: {new.why}")

    def _why_new(self, zone: Zone, log: Log) -> NewLog | None:
        if log.zone_id != zone.id:
            return NewLog("the zone has another id", True, True)
        last = log.segments[-1][0] if log.segments else log.position
        if not self._store.gave_out(last) or not self._store.gave_out(log.position):
            return NewLog("the tokens of this store became void", True, True)
        readers = set(self.readers(zone))
        left_out = self._memory.left_out(log.id).items()
        if any(not self._may_leave_out(zone, peer, history, readers) for peer, history in left_out):
            return NewLog("records that it leaves out may be nowhere else", True)
        if self._memory.readers(log.id) - readers:
            return NewLog("a machine may not read it any more")
        log_key = self._author.log_key(log.id)
        names = [segment_name(log_key, number + 1) for number in range(len(log.segments))]
        if not all(self._folder.has(f"{self._author.id.hex()}/{name}") for name in names):
            return NewLog("objects of it are gone")
        sizes = [size for _, size in log.segments]
        changes = sum(sizes[log.base :]) if log.base else 0
        is_long = log.base > 0 and len(sizes) - log.base >= SEGMENTS_AFTER_BASE
        if is_long or (changes > BYTES_AFTER_BASE and changes > sum(sizes[: log.base])):
            return NewLog("its changes are longer than its base")
        return None

    def _is_known_to_all(self, zone: Zone, log: Log) -> bool:
        """Whether every reader has read the base of a log, as its head tells."""
        for key in self.readers(zone):
            section = self.section_of(key, zone)
            read = section.read_of(self._store.replica) if section else None
            if read is None or read.log != log.id or read.segment < log.base:
                return False
        return log.base > 0

    # Leaving out (mailbox.md 5.3)

    def _may_leave_out(self, zone: Zone, peer: bytes, history: bytes, readers: set[bytes]) -> bool:
        """Whether all readers get the records of a peer, of one history, from its own log: the first four conditions. It waits for nobody."""
        section = self.section_of(peer, zone)
        if section is None or self._store.rights(peer, zone) != Right.WRITE:
            return False
        if section.history != history:
            return False
        others = readers - {peer}
        if not {replica_id(key) for key in others} <= set(section.readers):
            return False
        for key in others:
            theirs = self.section_of(key, zone)
            if theirs is not None and theirs.read_of(replica_id(peer)) is None:
                return False
            if theirs is not None and self._misses(theirs, peer, section):
                return False
        return True

    def _misses(self, theirs: ZoneSection, peer: bytes, section: ZoneSection) -> bool:
        """Whether a head names as damaged what the head of a peer names, or that head."""
        told = {entry.object for entry in theirs.damaged if entry.replica == replica_id(peer)}
        if not told:
            return False
        names = {bytes.fromhex(segment_name(section.log_key, number + 1)) for number in range(section.segments)}
        counter = self._heads[peer].head.counter
        return any(object in names or object[:8] == bytes(8) and object >= head_object(counter) for object in told)

    def _leaves_out(self, zone: Zone) -> dict[bytes, bytes]:
        """The peers whose records the next segment leaves out, each with the history that this machine has read."""
        readers = set(self.readers(zone))
        found = {}
        for peer in self._heads:
            section = self.section_of(peer, zone)
            held = self._store.received_token(peer, zone.number)
            is_there = section is not None and held is not None and section.covers(held, section.covered)
            history = self._memory.has_read(zone.number, peer).history
            if is_there and self._may_leave_out(zone, peer, history, readers):
                found[peer] = history
        return found

    # Segments

    def _write_base(self, zone: Zone, log: Log) -> None:
        position, number, is_last = log.position, len(log.segments), False
        while not is_last:
            with self._store.snapshot():
                batch = self._store.read_batch(zone.number, position)
                total = self._store.sum(zone.number)
            number, position, is_last = number + 1, batch.token, batch.last
            self._put_segment(zone, log, number, batch)
        with self._memory.transaction():
            self._memory.note_covered(log.id, position, total.count, total.sum)
            self._memory.finish_base(zone.number, log.id, number, self._store.now())
        self.needs_head = True

    def _write_changes(self, zone: Zone, log: Log) -> None:
        left_out = self._leaves_out(zone)
        position, number, is_last = log.position, len(log.segments), False
        for peer, history in left_out.items():
            if self._store.has_from(peer, zone.number, position.sequence):
                self._memory.note_left_out(log.id, peer, history)
        while not is_last:
            with self._store.snapshot():
                batch = self._store.read_batch(zone.number, position, left_out.keys())
                total = self._store.sum(zone.number)
            position, is_last = batch.token, batch.last
            if batch.records:
                number += 1
                self._put_segment(zone, log, number, batch)
                self.needs_head = True
        self._memory.note_covered(log.id, position, total.count, total.sum)

    def _put_segment(self, zone: Zone, log: Log, number: int, batch: Batch) -> None:
        log_key = self._author.log_key(log.id)
        content = seal_segment(self._author, log.id, log_key, number, zone.id, batch)
        self._folder.put(f"{self._author.id.hex()}/{segment_name(log_key, number)}", content)
        self._memory.add_segment(log.id, number, batch.token, len(content))
        self.segments += 1

    # The head (mailbox.md 3, 5.2)

    def write_head(self, greatest: int) -> bool:
        """Puts a head if there is a reason for one. `greatest` is the greatest counter of this author that lies there."""
        draft = self._draft()
        said = self._said(draft)
        if not self.needs_head and said == self._memory.said:
            return False
        counter = max(self._memory.counter + 1, greatest + 1, self._store.now())
        self._memory.use_counter(counter)
        content = draft.seal(self._author, counter, self._store.now())
        self._folder.put(head_name(self._author.id, counter), content)
        self._memory.note_said(said, content)
        return True

    def _draft(self) -> Draft:
        sections, readers = [], {}
        for zone in self._store.zones():
            log = self._memory.log(zone.number, NAMED)
            of_zone = self.readers(zone)
            if log is None or not of_zone:
                continue
            for key, right in of_zone.items():
                readers.setdefault(key, {})[len(sections)] = right
            sections.append(self._section(zone, log, of_zone))
        told = {key for key in readers if self._store.tells(key)}
        return Draft(sections, self._store.household if told else None, readers, told)

    def _section(self, zone: Zone, log: Log, readers: dict[bytes, Right]) -> ZoneSection:
        wanted = wanted_files(self._store, zone)
        most = FILES_LIMIT - 1
        return ZoneSection(
            zone.id, log.history, log.id, self._author.log_key(log.id), log.whole, log.base, len(log.segments),
            [token.sequence for token, _ in log.segments[log.base - 1 :]], log.position, self._store.generations,
            self._store.forgotten(zone.number), log.count, log.sum, sorted(replica_id(key) for key in readers),
            self._read(zone), self._files.keys(zone), self._files.offered(zone), wanted[:most], len(wanted) > most,
            self._refused(zone), self._damaged_of(zone),
        )  # fmt: skip

    def _read(self, zone: Zone) -> list[HasRead]:
        """What this machine has of all peers whose records it takes."""
        entries = []
        for key in self._store.peers():
            if self._store.rights(key, zone) == Right.WRITE:
                read = self._memory.has_read(zone.number, key)
                token = self._store.received_token(key, zone.number)
                entries.append(HasRead(replica_id(key), read.history, read.log, read.segment, token))
        return sorted(entries, key=lambda entry: entry.replica)

    def _refused(self, zone: Zone) -> list[Refused]:
        """What this machine has refused of each peer, as far as there is room."""
        entries, left = [], REFUSED_NAMES
        for key in sorted(self._store.peers(), key=replica_id):
            records = self._store.own_refusals(key, zone.number)
            named = records[: min(left, REFUSED_LIMIT - 1)]
            left -= len(named)
            if records:
                entries.append(Refused(replica_id(key), named, len(records) - len(named)))
        return entries

    def _damaged_of(self, zone: Zone) -> list[DamagedObject]:
        """What this machine could not open of others, as far as there is room."""
        readers = self.readers(zone)
        here = [(key, object) for number, key, object in self._damaged if number in (None, zone.number)]
        found = {(replica_id(key), object) for key, object in here if key in readers}
        return [DamagedObject(replica, object) for replica, object in sorted(found)][: DAMAGED_LIMIT - 1]

    def _said(self, draft: Draft) -> bytes:
        """What is a reason for another head when it changes."""
        writer = Writer()
        for section in draft.zones:
            section.zone.write(writer)
            writer.varint(section.forgotten)
            for replica in section.readers:
                writer.u64(replica)
            for entry in section.read:
                writer.u64(entry.replica).put(entry.log)
            for offer in section.offered:
                writer.put(offer.hash).varint(offer.key)
            for hash in section.wanted:
                writer.put(hash)
            writer.flag(section.wants_more)
            section.write_refused(writer)
            section.write_damaged(writer)
        for key, zones in sorted(draft.readers.items()):
            writer.put(key).flag(key in draft.told)
            for number, right in sorted(zones.items()):
                writer.varint(number).u8(right)
        return writer.put(draft.household.digest if draft.household else b"").data()
