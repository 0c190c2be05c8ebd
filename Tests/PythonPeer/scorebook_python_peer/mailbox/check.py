"""Opens everything in a mailbox that a machine may open, and changes nothing."""

from collections.abc import Callable, Iterator
from pathlib import Path

from ..errors import PeerError
from ..store import Store
from .folder import Folder
from .head import Head, OtherVersion, open_head
from .reading import greatest_counters, head_name
from .sealing import Author, Damaged
from .section import ZoneSection
from .segment import Signer, open_piece, open_segment, piece_name, pieces_of, segment_name


def check_mailbox(store: Store, path: Path, say: Callable[[str], None]) -> bool:
    """Says what lies there, and gives whether all of it is there and whole."""
    if not path.is_dir():
        raise PeerError(f"there is no folder {path}")
    folder, author = Folder(path), Author(store.identity)
    is_whole = True
    for id, counter in sorted(greatest_counters(folder).items()):
        if id == author.id:
            say(f"this machine: head {counter}")
            continue
        try:
            name, signer, head = _find(store, folder, author, id, counter)
        except OtherVersion as error:
            say(f"the author {id.hex()}: {error}")
            continue
        except Damaged as error:
            say(f"the author {id.hex()}: head {counter} is damaged: {error}")
            is_whole = False
            continue
        if head is None:
            say(f"the author {id.hex()}: head {counter} says nothing to this machine")
            continue
        problems = []
        for section in head.zones:
            problems += [*_log_problems(folder, signer, section), *_file_problems(folder, signer, section)]
            say(
                f"{name}: head {counter}, {section.segments} segments of {section.zone.name},"
                f" {section.count} records, {len(section.offered)} files"
            )
        for problem in problems:
            say(f"{name}: {problem}")
        is_whole = is_whole and not problems
    return is_whole


def _find(store: Store, folder: Folder, author: Author, id: bytes, counter: int) -> tuple[str, Signer, Head | None]:
    content = folder.get(head_name(id, counter))
    for key, name in store.peers().items() if content is not None else ():
        head = open_head(author, key, id, counter, content)
        if head is not None:
            return name, Signer(key, id, head.verification_key), head
    return "", Signer(b"", id, b""), None


def _log_problems(folder: Folder, signer: Signer, section: ZoneSection) -> Iterator[str]:
    for number in range(1, section.segments + 1):
        content = folder.get(f"{signer.id.hex()}/{segment_name(section.log_key, number)}")
        if content is None:
            yield f"segment {number} of {section.zone.name} has not come"
            continue
        try:
            batch = open_segment(
                signer, section.log, section.log_key, number, section.zone, content, section.last_number(number)
            )
        except Damaged as error:
            yield f"segment {number} of {section.zone.name} is damaged: {error}"
            continue
        if number == section.base and not batch.last:
            yield f"the base of {section.zone.name} has no end"


def _file_problems(folder: Folder, signer: Signer, section: ZoneSection) -> Iterator[str]:
    for offer in section.offered:
        epoch, key = section.file_keys[offer.key]
        for piece in range(pieces_of(offer.size)):
            content = folder.get(f"{signer.id.hex()}/{piece_name(key, offer.hash, piece)}")
            if content is None:
                yield f"piece {piece} of a file has not come"
                continue
            try:
                open_piece(signer, epoch, key, offer.hash, piece, content)
            except Damaged as error:
                yield f"piece {piece} of a file is damaged: {error}"
