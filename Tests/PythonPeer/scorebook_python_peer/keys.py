"""Keys of tables as suffixes of record names (protocol.md 6.1)."""

import re
from uuid import UUID

KeyValue = str | bytes | int | float | None


def kind(value: KeyValue) -> str:
    """What the column of a value holds."""
    return {str: "text", bytes: "blob", int: "integer"}[type(value)]


def suffix(key: list[KeyValue]) -> str | None:
    """The suffix of a key; None for a key that has none."""
    parts = [_part(value) for value in key]
    return ",".join(part for part in parts if part) if parts and all(parts) else None


def key(text: str, kinds: list[str]) -> list[KeyValue] | None:
    """The key of a suffix; None for a suffix of no such key."""
    parts = text.split(",")
    if len(parts) != len(kinds):
        return None
    try:
        values = [_value(part, kind) for part, kind in zip(parts, kinds, strict=True)]
    except ValueError:
        return None
    return values if suffix(values) == text else None


def _part(value: KeyValue) -> str | None:
    match value:
        case str():
            return "".join(chr(byte) if _is_plain(byte) else f"%{byte:02X}" for byte in value.encode())
        case bytes():
            return str(UUID(bytes=value)) if len(value) == 16 else value.hex()
        case int():
            return str(value)
    return None


def _is_plain(byte: int) -> bool:
    return 0x20 <= byte <= 0x7E and chr(byte) not in "%,"


def _value(part: str, kind: str) -> KeyValue:
    match kind:
        case "text":
            if re.search(r"%(?![0-9A-F]{2})", part):
                raise ValueError(part)
            pairs = re.sub(rb"%(..)", lambda found: bytes.fromhex(found[1].decode()), part.encode())
            return pairs.decode()
        case "integer":
            number = int(part)
            if not -(2**63) <= number < 2**63:
                raise ValueError(part)
            return number
        case "blob":
            return bytes.fromhex(part.replace("-", ""))
    raise ValueError(kind)
