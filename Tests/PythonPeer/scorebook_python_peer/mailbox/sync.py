"""One pass over a mailbox: reading, writing, cleaning up (mailbox.md 5 to 10)."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from ..errors import PeerError
from ..store import Store, Zone
from .folder import Folder
from .memory import BUILDING, NAMED, OLD, Log, Memory
from .reading import COUNTERS, HEADS, MailboxReader, greatest_counters, head_name
from .sealing import Author, Damaged
from .segment import Signer, open_piece, open_segment, piece_name, pieces_of, segment_name
from .writing import MailboxWriter

OLD_LOG_MILLISECONDS = 7 * 86_400_000
MISSING_LIMIT = 3
SUSPICION_MILLISECONDS = 7 * 86_400_000


class MailboxSync:
    """A pass. `tell` gets each sentence for the user."""

    def __init__(self, store: Store, path: Path, allowed_skew: int, tell: Callable[[str], None]) -> None:
        if not path.is_dir():
            raise PeerError(f"there is no folder {path}")
        self._store = store
        self._folder = Folder(path)
        self._memory = Memory(store, str(path.resolve()))
        self._author = Author(store.identity)
        self._allowed_skew = allowed_skew
        self._tell = tell

    def add_anew(self) -> None:
        self._memory.forget_all()

    def run(self) -> None:
        listed = greatest_counters(self._folder, self._author.id)
        if not listed and self._memory.counter:
            raise PeerError("the mailbox has no head at all, and it had one: this is another storage, or it was emptied")
        has_twin, new_history = self._look_at_own_head(listed)
        is_away, everything_anew = self._count_missing(listed)
        reader = MailboxReader(self._store, self._folder, self._memory, self._allowed_skew, self._tell)
        reader.take_heads(listed)
        reader.read_logs()
        fetched = reader.fetch_files()
        self._tell(f"read {len(reader.heads)} heads, {reader.records} records, {fetched} files")
        if has_twin or is_away:
            return
        writer = MailboxWriter(self._store, self._folder, self._memory, reader, self._tell)
        self._remove_damaged(reader.told_damaged())
        writer.needs_head |= self._is_head_damaged()
        writer.write_logs(new_history or reader.is_restored, everything_anew)
        has_put = writer.write_head(listed.get(self._author.id, 0))
        self._tell(f"wrote {writer.segments} segments, {'a' if has_put else 'no'} head")
        Cleaner(self._store, self._folder, self._memory, writer).run()

    # What the own head tells (mailbox.md 10)

    def _look_at_own_head(self, listed: dict[bytes, int]) -> tuple[bool, bool]:
        """Whether another machine has this key, and whether this store was restored."""
        there, now = listed.get(self._author.id, 0), self._store.now()
        is_long_ago = not 0 <= now - self._memory.overtaken_at < SUSPICION_MILLISECONDS
        if self._memory.overtaken and there == self._memory.counter and is_long_ago:
            self._memory.note_overtaken(0, 0)
        if there <= self._memory.counter:
            return False, False
        if self._memory.overtaken and self._memory.counter > self._memory.overtaken:
            self._tell("two machines have one key: this one reads, and writes no more")
            return True, False
        self._tell("this store was restored: its log begins a new history")
        self._memory.note_overtaken(there, now)
        return False, True

    def _is_head_damaged(self) -> bool:
        content = self._folder.get(head_name(self._author.id, self._memory.counter))
        return content is not None and not self._memory.has_put(content)

    def _remove_damaged(self, told: set[bytes]) -> None:
        """Removes what is damaged of what others could not open: what is missing is put anew."""
        own = Signer(self._author.key, self._author.id, self._author.verification_key)
        for zone in self._store.zones():
            for role in (BUILDING, NAMED):
                for log in self._memory.logs(zone.number, role):
                    key = self._author.log_key(log.id)
                    for number in range(1, len(log.segments) + 1):
                        end = log.segments[number - 1][0].sequence if 0 < log.base <= number else None
                        open_it = partial(open_segment, own, log.id, key, number, zone.id, end=end)
                        self._remove_if_damaged(segment_name(key, number), told, open_it)
            for file in self._memory.files(zone.number).values():
                key = self._author.file_key(file.epoch)
                for piece in range(pieces_of(file.size)):
                    open_it = partial(open_piece, own, file.epoch, key, file.hash, piece)
                    self._remove_if_damaged(piece_name(key, file.hash, piece), told, open_it)

    def _remove_if_damaged(self, name: str, told: set[bytes], open_it: Callable[[bytes], object]) -> None:
        name_there = f"{self._author.id.hex()}/{name}"
        content = self._folder.get(name_there) if bytes.fromhex(name) in told else None
        if content is None:
            return
        try:
            open_it(content)
        except Damaged:
            self._folder.delete(name_there)

    def _count_missing(self, listed: dict[bytes, int]) -> tuple[bool, bool]:
        """Whether the last head is missing, and whether it is missing for so long that everything is put anew."""
        counter = self._memory.counter
        if not counter or listed.get(self._author.id, 0) >= counter or self._folder.has(head_name(self._author.id, counter)):
            self._memory.note_missing(0)
            return False, False
        times = self._memory.missing + 1
        self._memory.note_missing(times if times < MISSING_LIMIT else 0)
        if times < MISSING_LIMIT:
            self._tell("the last head of this machine is not there")
            return True, False
        self._tell("the storage went back: everything is put anew")
        return False, True


class Cleaner:
    """Removes own objects that the last head makes useless (mailbox.md 9)."""

    def __init__(self, store: Store, folder: Folder, memory: Memory, writer: MailboxWriter) -> None:
        self._store = store
        self._folder = folder
        self._memory = memory
        self._writer = writer
        self._author = Author(store.identity)

    def run(self) -> None:
        explained = set()
        for zone in self._store.zones():
            self._drop_old_logs(zone)
            for role in (BUILDING, NAMED, OLD):
                for log in self._memory.logs(zone.number, role):
                    explained |= self._segments(log)
            for file in self._memory.files(zone.number).values():
                key = self._author.file_key(file.epoch)
                explained |= {piece_name(key, file.hash, piece) for piece in range(pieces_of(file.size))}
        own = self._author.id.hex()
        for name in self._folder.list(own):
            if name not in explained:
                self._folder.delete(f"{own}/{name}")
        newest = head_name(self._author.id, self._memory.counter)
        stray = head_name(self._author.id, COUNTERS // 2)
        for name in self._folder.list(HEADS):
            is_old = f"{HEADS}/{name}" < newest and self._folder.has(newest)
            if name.startswith(f"{own}-") and (is_old or f"{HEADS}/{name}" >= stray):
                self._folder.delete(f"{HEADS}/{name}")

    def _drop_old_logs(self, zone: Zone) -> None:
        named = self._memory.log(zone.number, NAMED)
        if named is None:
            return
        is_known = all(self._names(zone, key, named) for key in self._writer.readers(zone))
        for log in self._memory.logs(zone.number, OLD):
            if is_known or (log.retired or 0) + OLD_LOG_MILLISECONDS < self._store.now():
                self._memory.drop_log(log.id)

    def _names(self, zone: Zone, key: bytes, named: Log) -> bool:
        section = self._writer.section_of(key, zone)
        read = section.read_of(self._store.replica) if section else None
        return read is not None and read.log == named.id

    def _segments(self, log: Log) -> set[str]:
        """The names of its segments, and of the one that a crash may have left behind them."""
        key = self._author.log_key(log.id)
        return {segment_name(key, number + 1) for number in range(len(log.segments) + 1)}
