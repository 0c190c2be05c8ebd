"""Checks of announcements and pairing links (discovery.md)."""

import hashlib
from urllib.parse import quote

from .notation import Json, equal, hexadecimal

LABEL = b"peer-sync announcement 1"


def announcement(key: bytes, salt: bytes, shows_code: bool) -> bytes:
    """The TXT record of a machine."""
    identifier = hashlib.blake2b(LABEL + salt, digest_size=16, key=key).hexdigest()
    strings = ["v=1", f"salt={salt.hex()}", f"id={identifier}"] + ["pair=1"] * shows_code
    return b"".join(bytes([len(string)]) + string.encode() for string in strings)


def link(app: str, key: bytes, code: str, addresses: list[str]) -> str:
    """The text of a QR code."""
    digest = hashlib.blake2b(key, digest_size=16).hexdigest()
    places = "".join("&at=" + quote(address, safe=":[]") for address in addresses)
    return f"peer-sync:pair?v=1&app={app}&code={code.replace('-', '')}&key={digest}{places}"


def check_discovery(vector: Json) -> None:
    key, app = hexadecimal(vector["key"]), vector["app"]
    name = "ps-" + hashlib.blake2b(app.encode(), digest_size=16).digest()[:5].hex()
    equal("service name", vector["serviceName"], name)
    for entry in vector["announcements"]:
        text = announcement(key, hexadecimal(entry["salt"]), entry["pair"])
        equal("announcement", hexadecimal(entry["text"]), text)
    for entry in vector["links"]:
        equal("link", entry["text"], link(app, key, entry["code"], entry["addresses"]))
