"""How the vectors write things (Protocol/README.md, Notation)."""

import struct
from typing import Any

from .. import values
from ..batch import Batch
from ..household import Entry, Gets, Household, Introduction, Removal
from ..messages import (
    Acknowledge,
    AssetChunk,
    AssetMissing,
    AssetRequest,
    AssetsAvailable,
    AssetsWanted,
    BatchMessage,
    Begin,
    Digest,
    Error,
    Goodbye,
    Hello,
    HouseholdDigest,
    HouseholdSet,
    Message,
    OfferedZone,
    Open,
    PairingShare,
    PairingTag,
    Ping,
    Pong,
    Reconcile,
    Refuse,
    Resync,
    Right,
    Union,
)  # fmt: skip
from ..names import ZoneID
from ..records import Stamp, State, Write
from ..tokens import Token

Json = Any


def equal(what: str, actual: object, expected: object) -> None:
    if actual != expected:
        raise AssertionError(f"{what}: {_shown(actual)} instead of {_shown(expected)}")


def _shown(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def hexadecimal(content: str | list[Json]) -> bytes:
    """Bytes; very long ones come in parts."""
    if isinstance(content, str):
        return bytes.fromhex(content)
    return b"".join(bytes.fromhex(part["bytes"]) * part["times"] for part in content)


def value(json: Json) -> values.Value:
    if json is None:
        return values.NULL
    ((kind, content),) = json.items()
    match kind:
        case "integer":
            return values.integer(int(content))
        case "real":
            return values.real(struct.unpack(">d", hexadecimal(content))[0])
        case "text":
            return values.text(content if isinstance(content, str) else content["repeated"] * content["times"])
        case "blob":
            return values.blob(hexadecimal(content))
        case "date":
            return values.date(int(content))
        case "reference":
            return values.reference(content)
        case "asset":
            return values.asset(
                values.Asset(hexadecimal(content["hash"]), int(content["size"]), content["mediaType"], content["name"])
            )
    raise AssertionError(f"{kind} is no kind of value")


def plain(json: Json) -> str | bytes | int | float | None:
    """A value of a key, as Python has it."""
    if json is None:
        return None
    ((kind, content),) = json.items()
    match kind:
        case "integer":
            return int(content)
        case "real":
            return float(struct.unpack(">d", hexadecimal(content))[0])
        case "blob":
            return hexadecimal(content)
        case "text":
            return str(content)
    raise AssertionError(f"{kind} is no kind of value that a key has")


def stamp(json: Json) -> Stamp:
    return Stamp(int(json["time"], 16), int(json["replica"], 16))


def optional_stamp(json: Json) -> Stamp | None:
    return stamp(json) if json is not None else None


def record(json: Json) -> tuple[str, State]:
    """Name and state."""
    fields = {
        name: Write(value(field["value"]), stamp(field["stamp"])) for field in json["fields"] for name in _names(field)
    }
    return json["name"], State(fields, optional_stamp(json["deletion"]), optional_stamp(json["revival"]), optional_stamp(json.get("erasure")))


def _names(field: Json) -> list[str]:
    """One name, or those of many fields that are alike."""
    if "times" not in field:
        return [field["name"]]
    return [f"{field['name']}{number:04}" for number in range(1, field["times"] + 1)]


def token(json: Json) -> Token:
    return Token(hexadecimal(json["generation"]), int(json["sequence"]), int(json["horizon"]))


def optional_token(json: Json) -> Token | None:
    return token(json) if json is not None else None


def message(json: Json) -> Message | None:
    """A message; None for one of unknown type."""
    match json["type"]:
        case "unknown":
            return None
        case "hello":
            return Hello(
                int(json["minorVersion"]), int(json["replica"], 16), int(json["instance"], 16), json["displayName"],
                int(json["clock"]), [offered_zone(zone) for zone in json["zones"]],
            )  # fmt: skip
        case "pairingShare":
            return PairingShare(hexadecimal(json["share"]))
        case "pairingTag":
            return PairingTag(hexadecimal(json["tag"]), json["displayName"])
        case "begin":
            return Begin(json["zone"], json["void"], json["wholeCopy"], int(json["recordCount"]))
        case "batch":
            records = [record(state) for state in json["records"]]
            return BatchMessage(json["zone"], Batch(token(json["token"]), json["last"], json["loose"], records))
        case "acknowledge":
            return Acknowledge(json["zone"], token(json["token"]))
        case "digest":
            return Digest(
                json["zone"], token(json["current"]), optional_token(json["received"]), int(json["recordCount"]),
                hexadecimal(json["sum"]), json["refused"],
            )  # fmt: skip
        case "resync":
            return Resync(json["zone"], json["round"])
        case "ping":
            return Ping(hexadecimal(json["bytes"]))
        case "pong":
            return Pong(hexadecimal(json["bytes"]))
        case "error":
            return Error(int(json["code"]), json["sentence"])
        case "goodbye":
            return Goodbye()
        case "reconcile":
            wanted = [hexadecimal(wanted) for wanted in json["wanted"]]
            return Reconcile(json["zone"], json["end"], wanted, hexadecimal(json["payload"]))
        case "assetRequest":
            return AssetRequest(hexadecimal(json["hash"]), int(json["offset"]), int(json["length"]))
        case "assetChunk":
            return AssetChunk(hexadecimal(json["hash"]), int(json["offset"]), hexadecimal(json["bytes"]))
        case "assetMissing":
            return AssetMissing(hexadecimal(json["hash"]))
        case "assetsAvailable":
            return AssetsAvailable([hexadecimal(hash) for hash in json["hashes"]])
        case "assetsWanted":
            return AssetsWanted(int(json["files"]), int(json["bytes"]))
        case "open":
            zones = {ZoneID(z["name"], int(z["owner"], 16)): optional_token(z["received"]) for z in json["zones"]}
            return Open(Union(json["union"]), zones)
        case "refuse":
            return Refuse(json["zone"], json["reason"], json["names"])
        case "household":
            return HouseholdDigest(hexadecimal(json["digest"]))
        case "householdSet":
            entries = [household_entry(entry) for entry in json["entries"]]
            addresses = [(hexadecimal(a["key"]), a["address"]) for a in json["addresses"]]
            return HouseholdSet(Household(entries), json["port"], addresses)
    raise AssertionError(f"{json['type']} is no type of message")


def household_entry(json: Json) -> Entry:
    introduction = Introduction(
        hexadecimal(json["nonce"]), hexadecimal(json["key"]), json["name"], Gets[json["rights"].upper()],
        hexadecimal(json["introducer"]), int(json["time"]),
    )  # fmt: skip
    removal = json["removal"]
    return Entry(introduction, removal and Removal(hexadecimal(removal["remover"]), int(removal["time"])))


def offered_zone(json: Json) -> OfferedZone:
    return OfferedZone(
        ZoneID(json["name"], int(json["owner"], 16)), json["calledHere"], json["default"], json["shared"],
        Right[json["rights"].upper()], int(json["recordCount"]), hexadecimal(json["fingerprint"]),
    )  # fmt: skip
