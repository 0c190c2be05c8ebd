"""Putting files into a mailbox (mailbox.md 8)."""

from collections.abc import Mapping
from dataclasses import replace

from ..assets import AssetFolder
from ..messages import Right
from ..records import replica_id
from ..store import Store, Zone
from .folder import Folder
from .memory import Memory, OwnFile
from .reading import PeerHead
from .sealing import Author
from .section import FILE_KEYS_LIMIT, FILES_LIMIT, Offer, ZoneSection
from .segment import PIECE_BYTES, piece_name, pieces_of, seal_piece


class FileWriter:
    """Puts the files that a reader may lack, and offers them."""

    def __init__(self, store: Store, folder: Folder, memory: Memory, heads: Mapping[bytes, PeerHead]) -> None:
        self._store = store
        self._folder = folder
        self._memory = memory
        self._author = Author(store.identity)
        self._heads = heads

    def write(self, zone: Zone, readers: Mapping[bytes, Right]) -> None:
        """Gives up what nobody lacks, puts what somebody may lack."""
        self._begin_epoch_if_need_be(zone, readers)
        self._give_up(zone, readers)
        self._leave_old_epochs(zone)
        have = AssetFolder(self._store.assets_directory)
        known = self._memory.files(zone.number)
        needed = self._needed(zone, readers)
        for file in [file for file in known.values() if file.is_put and self._is_gone(file)]:
            known[file.hash] = replace(file, is_put=False)
            needed[file.hash] = file.size
        for hash, size in sorted(needed.items()):
            is_put = hash in known and known[hash].is_put
            if is_put or len(known) >= FILES_LIMIT - 1 or not have.has(hash) or not have.check(hash):
                continue
            file = known[hash] = OwnFile(hash, size, self._memory.epochs(zone.number)[0], False)
            self._memory.keep_file(zone.number, file)
            self._put(zone, file, have)

    def _put(self, zone: Zone, file: OwnFile, have: AssetFolder) -> None:
        key = self._author.file_key(file.epoch)
        for piece in range(pieces_of(file.size)):
            content = have.read(file.hash, piece * PIECE_BYTES, PIECE_BYTES)
            sealed = seal_piece(self._author, file.epoch, key, file.hash, piece, content)
            self._folder.put(f"{self._author.id.hex()}/{piece_name(key, file.hash, piece)}", sealed)
        self._memory.keep_file(zone.number, replace(file, is_put=True))

    def _is_gone(self, file: OwnFile) -> bool:
        """Whether the storage has lost a piece of a file."""
        key = self._author.file_key(file.epoch)
        names = [piece_name(key, file.hash, piece) for piece in range(pieces_of(file.size))]
        return not all(self._folder.has(f"{self._author.id.hex()}/{name}") for name in names)

    # What is needed

    def _needed(self, zone: Zone, readers: Mapping[bytes, Right]) -> dict[bytes, int]:
        sizes = {hash: size for hash, size in self._store.assets([zone.number]).items() if size}
        needed = {}
        for hash, (size, number) in self._store.own_files(zone.number).items():
            if size and any(self._store.acknowledged(key, zone.number) < number for key in readers):
                needed[hash] = size
        for key in readers:
            section = self._heads[key].zone(zone) if key in self._heads else None
            for hash in section.wanted if section else ():
                if hash in sizes and not self._is_offered_by_another(zone, key, hash):
                    needed[hash] = sizes[hash]
        return needed

    def _is_offered_by_another(self, zone: Zone, reader: bytes, hash: bytes) -> bool:
        """Whether another author offers a file to a reader, which also reads that author."""
        theirs = self._heads[reader].zone(zone)
        for key, entry in self._heads.items():
            section = entry.zone(zone)
            if key == reader or section is None or replica_id(reader) not in section.readers:
                continue
            if theirs is None or theirs.read_of(replica_id(key)) is None:
                continue  # the reader may have ended its pairing with that author
            told = {entry.object for entry in theirs.damaged if entry.replica == replica_id(key)}
            for offer in section.offered:
                if offer.hash == hash and told.isdisjoint(self._pieces(section, offer)):
                    return True
        return False

    def _pieces(self, section: ZoneSection, offer: Offer) -> set[bytes]:
        """What names the pieces of a file that an author offers."""
        key = section.file_keys[offer.key][1]
        return {bytes.fromhex(piece_name(key, offer.hash, piece)) for piece in range(pieces_of(offer.size))}

    def _give_up(self, zone: Zone, readers: Mapping[bytes, Right]) -> None:
        """Files that no live record refers to any more, and those that no reader lacks (mailbox.md 9)."""
        for hash in self._memory.files(zone.number):
            number = self._store.last_reference(hash, zone.number)
            if number == 0 or not any(self._may_lack(zone, key, hash, number) for key in readers):
                self._memory.drop_file(zone.number, hash)

    def _may_lack(self, zone: Zone, reader: bytes, hash: bytes, number: int) -> bool:
        section = self._heads[reader].zone(zone) if reader in self._heads else None
        names = section is not None and (hash in section.wanted or section.wants_more)
        return names or self._store.acknowledged(reader, zone.number) < number

    # Keys

    def _begin_epoch_if_need_be(self, zone: Zone, readers: Mapping[bytes, Right]) -> None:
        epochs = self._memory.epochs(zone.number)
        gone = self._memory.readers(epochs[0]) - readers.keys() if epochs else set()
        if not epochs or gone:
            self._memory.begin_epoch(zone.number)
        self._memory.note_readers(self._memory.epochs(zone.number)[0], readers)

    def _leave_old_epochs(self, zone: Zone) -> None:
        """Keys stay as long as a file lies under them, of the newest ones; what lies under older ones is put again."""
        files = self._memory.files(zone.number)
        for number, epoch in enumerate(self._memory.epochs(zone.number)):
            under = [file.hash for file in files.values() if file.epoch == epoch]
            if number >= FILE_KEYS_LIMIT - 1:
                for hash in under:
                    self._memory.drop_file(zone.number, hash)
                under = []
            if number > 0 and not under:
                self._memory.drop_epoch(epoch)

    def keys(self, zone: Zone) -> list[tuple[bytes, bytes]]:
        """File epochs and their keys, the newest first."""
        return [(epoch, self._author.file_key(epoch)) for epoch in self._memory.epochs(zone.number)]

    def offered(self, zone: Zone) -> list[Offer]:
        epochs = self._memory.epochs(zone.number)
        files = self._memory.files(zone.number).values()
        return [Offer(file.hash, file.size, epochs.index(file.epoch)) for file in files if file.is_put]
