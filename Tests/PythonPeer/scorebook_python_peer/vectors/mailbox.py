"""Keys, padding, segments, pieces and heads of a mailbox: mailbox.json."""

from ..batch import Batch
from ..household import Household
from ..mailbox.head import Chance, Draft, Head, open_head
from ..mailbox.reading import head_name
from ..mailbox.sealing import Author, Damaged, Kind, pad, padme, place, unpad
from ..mailbox.section import DamagedObject, HasRead, Offer, Refused, ZoneSection
from ..mailbox.segment import (
    Signer,
    open_piece,
    open_segment,
    piece_name,
    seal_piece,
    seal_segment,
    segment_name,
)  # fmt: skip
from ..messages import Right
from ..names import ZoneID
from ..noise import KeyPair
from ..wire import Reader
from .notation import Json, equal, hexadecimal, optional_token, record, token


def check_mailbox(vector: Json) -> None:
    _check_padding(vector["padding"])
    told = vector["author"]
    author = Author(KeyPair(hexadecimal(told["staticSecret"])))
    equal("static key", author.key, hexadecimal(told["static"]))
    equal("author id", author.id, hexadecimal(told["id"]))
    equal("verification key", author.verification_key, hexadecimal(told["verificationKey"]))
    log, epoch = hexadecimal(told["log"]), hexadecimal(told["fileEpoch"])
    equal("key of the log", author.log_key(log), hexadecimal(told["logKey"]))
    equal("key of files", author.file_key(epoch), hexadecimal(told["fileKey"]))
    for case in vector["places"]:
        where = place(
            Kind(case["kind"]), author.key, author.id, int(case["number"]), hexadecimal(case["log"]),
            hexadecimal(case["file"] or ""),
        )  # fmt: skip
        equal(f"place of kind {case['kind']}", where, hexadecimal(case["place"]))
    for case in vector["segments"]:
        _check_segment(case, author, log)
    for case in vector["pieces"]:
        _check_piece(case, author, epoch)
    readers = [Author(KeyPair(hexadecimal(reader["staticSecret"]))) for reader in vector["readers"]]
    for case in vector["heads"]:
        _check_head(case, author, readers)


def _check_padding(vector: Json) -> None:
    for case in vector["lengths"]:
        equal(f"PADMÉ of {case['x']}", padme(case["x"]), case["padded"])
    for case in vector["plaintexts"]:
        plaintext, padded = hexadecimal(case["plaintext"]), hexadecimal(case["padded"])
        equal("padded", pad(plaintext), padded)
        equal("without padding", unpad(padded), plaintext)
    for content in vector["malformed"]:
        _is_damaged(f"padding of {content}", lambda: unpad(hexadecimal(content)))


def _is_damaged(what: str, read) -> None:
    try:
        read()
    except Damaged:
        return
    raise AssertionError(f"{what}: it is read")


def _zone(json: Json) -> ZoneID:
    return ZoneID(json["name"], int(json["owner"], 16))


def _signer(author: Author) -> Signer:
    return Signer(author.key, author.id, author.verification_key)


def _check_segment(case: Json, author: Author, log: bytes) -> None:
    number, zone, log_key = int(case["number"]), _zone(case["zone"]), author.log_key(log)
    told = case["batch"]
    batch = Batch(token(told["token"]), told["last"], told["loose"], [record(state) for state in told["records"]])
    name = f"segment {number}"
    equal(f"name of {name}", f"{author.id.hex()}/{segment_name(log_key, number)}", case["name"])
    content, nonce = hexadecimal(case["object"]), hexadecimal(case["nonce"])
    equal(f"{name} opened", open_segment(_signer(author), log, log_key, number, zone, content), batch)
    equal(name, seal_segment(author, log, log_key, number, zone, batch, nonce), content)
    for wrong in (content[:-1], content[:-1] + bytes((content[-1] ^ 1,)), b""):
        _is_damaged(f"{name}, torn", lambda: open_segment(_signer(author), log, log_key, number, zone, wrong))
    _is_damaged(f"{name} as another", lambda: open_segment(_signer(author), log, log_key, number + 1, zone, content))


def _check_piece(case: Json, author: Author, epoch: bytes) -> None:
    hash, piece, key = hexadecimal(case["file"]), case["piece"], author.file_key(epoch)
    name = f"piece {piece} of {case['file'][:8]}"
    equal(f"name of {name}", f"{author.id.hex()}/{piece_name(key, hash, piece)}", case["name"])
    plaintext, content = hexadecimal(case["bytes"]), hexadecimal(case["object"])
    equal(f"{name} opened", open_piece(_signer(author), epoch, key, hash, piece, content), plaintext)
    equal(name, seal_piece(author, epoch, key, hash, piece, plaintext, hexadecimal(case["nonce"])), content)
    _is_damaged(f"{name} as another", lambda: open_piece(_signer(author), epoch, key, hash, piece + 1, content))


class _Counted(Chance):
    """Each random number is one byte, repeated: 41 for the first, then 42 and so on. The slots stay in their order."""

    def __init__(self) -> None:
        self._next = 0x41

    def draw(self, length: int) -> bytes:
        self._next += 1
        return bytes((self._next - 1,)) * length

    def shuffle(self, slots: list[bytes]) -> None:
        pass


def _check_head(case: Json, author: Author, readers: list[Author]) -> None:
    counter, content = int(case["counter"]), hexadecimal(case["object"])
    equal("name of a head", head_name(author.id, counter), case["name"])
    heads = [open_head(reader, author.key, author.id, counter, content) for reader in readers]
    for number, (told, head) in enumerate(zip(case["opened"], heads)):
        what = f"head {counter} for reader {number}"
        equal(f"{what}: whether it says anything", head is None, told is None)
        if told is not None and head is not None:
            _check_opened(what, told, head)
            _is_damaged(f"{what}, torn", lambda: open_head(readers[number], author.key, author.id, counter, content[:-1]))
        equal(f"{what}, as another", open_head(readers[number], author.key, author.id, counter + 1, content), None)
    time = next((head.time for head in heads if head), 0)
    if any(heads):
        later_fields = hexadecimal(case["laterFields"])
        sealed = _draft(readers, heads).seal(author, counter, time, _Counted(), later_fields)
        equal(f"head {counter}", sealed, content)


def _check_opened(what: str, told: Json, head: Head) -> None:
    equal(f"{what}: time", head.time, int(told["time"]))
    equal(f"{what}: zones", head.zones, [_section(zone) for zone in told["zones"]])
    equal(f"{what}: rights", head.rights, [Right(zone["rights"]) for zone in told["zones"]])
    household = Household.read(Reader(hexadecimal(told["household"]))) if told["household"] else None
    equal(f"{what}: household", head.household, household)


def _draft(readers: list[Author], heads: list[Head | None]) -> Draft:
    """What the author said, put together from what its readers have opened."""
    sections: list[ZoneSection] = []
    rights: dict[bytes, dict[int, Right]] = {}
    household, told = None, set()
    for reader, head in zip(readers, heads):
        if head is None:
            continue
        opens = rights.setdefault(reader.key, {})
        for section, right in zip(head.zones, head.rights):
            if section not in sections:
                sections.append(section)
            opens[sections.index(section)] = right
        if head.household is not None:
            household = head.household
            told.add(reader.key)
    return Draft(sections, household, rights, told)


def _section(json: Json) -> ZoneSection:
    return ZoneSection(
        _zone(json["zone"]), hexadecimal(json["history"]), hexadecimal(json["log"]), hexadecimal(json["logKey"]),
        json["whole"], json["base"], json["segments"], [int(end) for end in json["ends"]], token(json["covered"]),
        [(hexadecimal(entry["id"]), int(entry["first"])) for entry in json["generations"]], int(json["forgotten"]),
        int(json["count"]), hexadecimal(json["sum"]), [int(replica, 16) for replica in json["readers"]],
        [_has_read(entry) for entry in json["read"]],
        [(hexadecimal(entry["epoch"]), hexadecimal(entry["key"])) for entry in json["fileKeys"]],
        [Offer(hexadecimal(entry["hash"]), int(entry["size"]), entry["key"]) for entry in json["offered"]],
        [hexadecimal(hash) for hash in json["wanted"]], json["wantsMore"],
        None if json["refused"] is None else [_refused(entry) for entry in json["refused"]],
        [DamagedObject(int(entry["replica"], 16), hexadecimal(entry["object"])) for entry in json["damaged"]],
    )  # fmt: skip


def _refused(json: Json) -> Refused:
    records = [(record["name"], record["reason"]) for record in json["records"]]
    return Refused(int(json["replica"], 16), records, int(json["further"]))


def _has_read(json: Json) -> HasRead:
    return HasRead(
        int(json["replica"], 16), hexadecimal(json["history"]), hexadecimal(json["log"]), json["segment"],
        optional_token(json["token"]),
    )  # fmt: skip
