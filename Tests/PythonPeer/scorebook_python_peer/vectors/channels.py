"""Checks of the handshake, the frames and pairing (protocol.md 2, 3, 4)."""

import asyncio
import hashlib
from collections.abc import Iterable
from typing import cast

from .. import cpace
from ..batch import Batch
from ..channel import (
    FRAME_LIMIT,
    PLAINTEXT_LIMIT,
    Channel,
    MessageBuffer,
    VersionsDiffer,
    read_frame,
    shake_as_caller,
    shake_as_listener,
)  # fmt: skip
from ..errors import ConnectionCut, Malformed, PeerError, SessionError
from ..greeting import Greeting
from ..messages import MESSAGE_LIMIT, BatchMessage, Message, PairingShare, PairingTag, decode
from ..noise import Handshake, KeyPair, TransportCipher
from ..pairing import Desk, Proof
from ..records import State, Write
from ..ristretto import Element
from ..store import Store
from ..values import text
from .notation import Json, equal, hexadecimal, message, stamp, token


class Sent:
    """Takes what a side writes."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data

    async def drain(self) -> None:
        pass


def stream(*parts: bytes) -> asyncio.StreamReader:
    """What comes from the other side, and then the end."""
    reader = asyncio.StreamReader()
    for part in parts:
        reader.feed_data(part)
    reader.feed_eof()
    return reader


def check_noise(vector: Json) -> None:
    prologue = bytes.fromhex(vector["prologue"])
    sides = {
        name: Handshake(
            name == "initiator", KeyPair(bytes.fromhex(vector[name]["static"])), prologue,
            KeyPair(bytes.fromhex(vector[name]["ephemeral"])),
        )
        for name in ("initiator", "responder")
    }  # fmt: skip
    other = {"initiator": "responder", "responder": "initiator"}
    for number, step in enumerate(vector["handshake"], 1):
        payload, message = bytes.fromhex(step["payload"]), bytes.fromhex(step["message"])
        writer, reader = sides[step["from"]], sides[other[step["from"]]]
        equal(f"message {number}", writer.write(payload), message)
        equal(f"payload {number}", reader.read(message), payload)
    for name, side in sides.items():
        equal(f"handshake hash of the {name}", side.hash, bytes.fromhex(vector["handshakeHash"]))
    ciphers = {name: side.ciphers() for name, side in sides.items()}
    for step in vector["transport"]:
        payload, message = bytes.fromhex(step["payload"]), bytes.fromhex(step["message"])
        equal("transport message", ciphers[step["from"]][0].encrypt(payload), message)
        equal("transport payload", ciphers[other[step["from"]]][1].decrypt(message), payload)


def check_rekey(vector: Json) -> None:
    first = vector["messages"][0]["nonce"]
    key = bytes.fromhex(vector["key"])
    sender, receiver = TransportCipher(key, first), TransportCipher(key, first)
    for step in vector["messages"]:
        plaintext, message = bytes.fromhex(step["plaintext"]), bytes.fromhex(step["message"])
        equal("nonce", sender.nonce, step["nonce"])
        equal("message", sender.encrypt(plaintext), message)
        equal("plaintext", receiver.decrypt(message), plaintext)
    equal("key after the rekey", sender.key, bytes.fromhex(vector["keyAfterRekey"]))
    sender.nonce = 2 * vector["rekeyInterval"] - 1
    sender.encrypt(b"")
    equal("key after the second rekey", sender.key, bytes.fromhex(vector["keyAfterSecondRekey"]))


def check_cpace(vector: Json) -> None:
    for entry in vector["vectors"]:
        _check_cpace_run(entry)
    multiplication = vector["scalarMultiplication"]
    point = Element.decode(bytes.fromhex(multiplication["point"]))
    assert point is not None
    scalar = int.from_bytes(bytes.fromhex(multiplication["scalar"]), "little")
    equal("scalar multiplication", point.times(scalar).encode(), bytes.fromhex(multiplication["result"]))
    for share in vector["invalidShares"]:
        try:
            cpace.shared_point(cpace.random_scalar(), b"", bytes.fromhex(share))
        except cpace.BadShare:
            continue
        raise AssertionError(f"the invalid share {share} was taken")


def _check_cpace_run(entry: Json) -> None:
    parts = [bytes.fromhex(entry[name]) for name in ("passwordRelatedString", "channelIdentifier", "sessionIdentifier")]
    equal("generator hash", cpace.generator_hash(*parts), bytes.fromhex(entry["generatorHash"]))
    generator = cpace.generator(*parts)
    equal("generator", generator.encode(), bytes.fromhex(entry["generator"]))
    scalars, shares, data = [], [], []
    for side in (entry["initiator"], entry["responder"]):
        scalars.append(int.from_bytes(bytes.fromhex(side["scalar"]), "little"))
        shares.append(bytes.fromhex(side["share"]))
        data.append(bytes.fromhex(side["associatedData"]))
        equal("share", generator.times(scalars[-1]).encode(), shares[-1])
    expected = bytes.fromhex(entry["sharedPoint"])
    equal("the initiator's shared point", cpace.shared_point(scalars[0], shares[0], shares[1]), expected)
    equal("the responder's shared point", cpace.shared_point(scalars[1], shares[1], shares[0]), expected)
    key = cpace.intermediate_session_key(parts[2], expected, shares[0], data[0], shares[1], data[1])
    equal("intermediate session key", key, bytes.fromhex(entry["intermediateSessionKey"]))


def check_pairing(vector: Json) -> None:
    session = bytes.fromhex(vector["handshakeHash"])
    statics = [bytes.fromhex(vector[name]["static"]) for name in ("initiator", "responder")]
    shares = [bytes.fromhex(vector[name]["share"]) for name in ("initiator", "responder")]
    for number, name in enumerate(("initiator", "responder")):
        scalar = int.from_bytes(bytes.fromhex(vector[name]["scalar"]), "little")
        proof = Proof(number == 0, vector["code"].replace("-", ""), session, statics[0], statics[1], scalar)
        equal("channel identifier", proof.channel, bytes.fromhex(vector["channelIdentifier"]))
        equal("associated data", proof.associated[number], bytes.fromhex(vector[name]["associatedData"]))
        equal("share", proof.share, shares[number])
        proof.take(shares[1 - number])
        equal("intermediate session key", proof.session_key, bytes.fromhex(vector["intermediateSessionKey"]))
        equal("confirmation key", proof.key, bytes.fromhex(vector["confirmationKey"]))
        equal("tag", proof.tag, bytes.fromhex(vector[name]["tag"]))
        equal(
            "the other tag",
            proof.expected_tag,
            bytes.fromhex(vector["responder" if number == 0 else "initiator"]["tag"]),
        )


def check_handshake(vector: Json) -> None:
    asyncio.run(_check_handshake(vector))


async def _check_handshake(vector: Json) -> None:
    def side(name: str) -> Handshake:
        keys = vector[name]
        static, ephemeral = (KeyPair(hexadecimal(keys[f"{kind}Secret"])) for kind in ("static", "ephemeral"))
        equal(f"static key of the {name}", static.public, hexadecimal(keys["static"]))
        equal(f"ephemeral key of the {name}", ephemeral.public, hexadecimal(keys["ephemeral"]))
        return Handshake(name == "caller", static, hexadecimal(vector["prologue"]), ephemeral)

    frames = [hexadecimal(step["frame"]) for step in vector["frames"]]
    caller, listener = side("caller"), side("listener")
    from_caller, from_listener = Sent(), Sent()
    await shake_as_caller(stream(frames[1]), from_caller, caller)
    await shake_as_listener(stream(frames[0], frames[2]), from_listener, listener)
    equal("the caller's frames", from_caller.data, frames[0] + frames[2])
    equal("the listener's frame", from_listener.data, frames[1])
    for handshake in (caller, listener):
        equal("handshake hash", handshake.hash, hexadecimal(vector["handshakeHash"]))
    ciphers = {"caller": caller.ciphers(), "listener": listener.ciphers()}
    for step in vector["afterwards"]:
        other = "listener" if step["from"] == "caller" else "caller"
        frame, plaintext = hexadecimal(step["frame"]), hexadecimal(step["plaintext"])
        equal("frame afterwards", ciphers[step["from"]][0].encrypt(plaintext), frame[2:])
        equal("plaintext afterwards", ciphers[other][1].decrypt(frame[2:]), plaintext)
    for entry in vector["refused"]:
        sent = Sent()
        try:
            await shake_as_listener(stream(hexadecimal(entry["frame"])), sent, side("listener"))
        except PeerError:
            equal(entry["why"], sent.data.hex() or "closed", entry["result"])
        else:
            raise AssertionError(f"{entry['why']}: was taken")
    for entry in vector["secondFrame"]:
        try:
            await shake_as_caller(stream(hexadecimal(entry["frame"])), Sent(), side("caller"))
        except VersionsDiffer as error:
            assert entry["result"].startswith("the user is told of version") and entry["result"][-1] in str(error)
        except PeerError:
            equal(entry["why"], "closed", entry["result"])
        else:
            raise AssertionError(f"{entry['why']}: was taken")


def check_frames(vector: Json) -> None:
    key = hexadecimal(vector["key"])
    for case in vector["cases"]:
        frames, plaintexts = map(hexadecimal, case["frames"]), list(map(hexadecimal, case["plaintexts"]))
        sender = TransportCipher(key)
        equal(
            case["why"],
            [_frame(sender.encrypt(plaintext)) for plaintext in plaintexts],
            list(map(hexadecimal, case["frames"])),
        )
        expected = [message(entry) for entry in case["messages"]]
        equal(case["why"], asyncio.run(_read_frames(key, frames)), expected)
    _check_long(key, vector["long"])
    for entry in vector["refused"]:
        try:
            asyncio.run(_read_frames(key, [hexadecimal(entry["bytes"])]))
        except Malformed:
            equal(entry["why"], "error 1", entry["result"])
        except ConnectionCut:
            equal(entry["why"], "closed", entry["result"])
        else:
            raise AssertionError(f"{entry['why']}: was taken")


def _frame(content: bytes) -> bytes:
    return len(content).to_bytes(2, "big") + content


async def _read_frames(key: bytes, frames: Iterable[bytes]) -> list[Message | None]:
    """What the frames of one direction say."""
    cipher, buffer, messages = TransportCipher(key), MessageBuffer(), []
    buffer.limit = MESSAGE_LIMIT
    for data in frames:
        buffer.feed(cipher.decrypt(await read_frame(stream(data), FRAME_LIMIT)))
        while (body := buffer.next()) is not None:
            messages.append(decode(body))
    return messages


def _check_long(key: bytes, entry: Json) -> None:
    content = text(entry["text"]["repeated"] * entry["text"]["count"])
    state = State({entry["field"]: Write(content, stamp(entry["stamp"]))})
    data = BatchMessage(
        entry["zone"], Batch(token(entry["token"]), entry["last"], False, [(entry["record"], state)])
    ).encode()
    equal("long message", len(data), entry["messageLength"])
    equal("hash of the long message", _hash(data), entry["messageHash"])
    cipher = TransportCipher(key)
    parts = [data[start : start + PLAINTEXT_LIMIT] for start in range(0, len(data), PLAINTEXT_LIMIT)]
    frames = [_frame(cipher.encrypt(part)) for part in parts]
    equal("frames of the long message", [{"length": len(f), "hash": _hash(f)} for f in frames], entry["frames"])


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=32).hexdigest()


class _PairingSide:
    """One side of a pairing with fixed values, which hears what a vector says."""

    def __init__(self, vector: Json, is_caller: bool) -> None:
        keys = [hexadecimal(vector[name]) for name in ("callerStatic", "listenerStatic")]
        self._is_caller = is_caller
        self.identity = self  # stands in for the store: a key, and a place for peers
        self.public, self.remote_key = keys if is_caller else reversed(keys)
        self.handshake_hash = hexadecimal(vector["handshakeHash"])
        self.peers: list[str] = []
        self.posted: list[Message] = []
        self._name = vector["callerName" if is_caller else "listenerName"]
        scalar = hexadecimal(vector["callerScalar" if is_caller else "listenerScalar"])
        self._scalar = int.from_bytes(scalar, "little")

    def add_peer(self, key: bytes, name: str) -> None:
        equal("the key that is stored", key, self.remote_key)
        self.peers.append(name)

    def introduce(self, key: bytes, name: str) -> None:
        """The household is no part of a pairing's messages."""
        equal("the key that is introduced", key, self.remote_key)

    def note_introduction_due(self, key: bytes) -> None:
        equal("the key of whom an introduction is due", key, self.remote_key)

    def hear(self, code: str, *messages: Message) -> str:
        """What becomes of the pairing: `paired`, `closes`, the code of an error, or `waits` for another message."""
        waiting = list(messages)

        async def receive() -> Message:
            if not waiting:
                raise EOFError
            return waiting.pop(0)

        store, channel = cast(Store, self), cast(Channel, self)
        greeting = Greeting(channel, store, self._is_caller, self._name, 0, receive, self.posted.append, self._scalar)
        digits = code.replace("-", "")
        try:
            if self._is_caller:
                asyncio.run(greeting.pair_as_caller(digits))
            else:
                first = cast(PairingShare, waiting.pop(0))
                asyncio.run(greeting.pair_as_listener(first, Desk(digits, float("inf"), 3)))
        except SessionError as error:
            return str(int(error.code))
        except ConnectionCut:
            return "closes"
        except EOFError:
            return "waits"
        return "paired"


def check_pairing_transcripts(vector: Json) -> None:
    for transcript in vector["transcripts"]:
        messages = [(step["from"], hexadecimal(step["message"])) for step in transcript["steps"] if "message" in step]
        error = next((step for step in transcript["steps"] if "error" in step), None)
        for name, code in (("caller", transcript["typed"]), ("listener", transcript["shown"])):
            side = _PairingSide(vector, name == "caller")
            outcome = side.hear(code, *(_decoded(data) for sender, data in messages if sender != name))
            equal(f"what the {name} sends", [m.encode() for m in side.posted], [d for s, d in messages if s == name])
            expected = "paired" if error is None else error["error"] if error["from"] == name else "waits"
            equal(f"how it ends for the {name}", outcome, expected)
            equal("paired", bool(side.peers), error is None)
    code = vector["transcripts"][0]["shown"]
    right = [_decoded(hexadecimal(step["message"])) for step in vector["transcripts"][0]["steps"]]
    for entry in vector["badShares"]:
        bad = PairingShare(hexadecimal(entry["share"]))
        equal(entry["why"], {"error": _PairingSide(vector, False).hear(code, bad)}, entry["toTheListener"])
        equal(entry["why"], _PairingSide(vector, True).hear(code, bad), entry["toTheCaller"])
    for entry in vector["badTags"]:
        is_caller = entry["to"] == "caller"
        side = _PairingSide(vector, is_caller)
        outcome = side.hear(code, right[1 if is_caller else 0], PairingTag(hexadecimal(entry["tag"]), "x"))
        equal(entry["why"], outcome, entry["error"])
        equal("nobody is paired", side.peers, [])


def _decoded(data: bytes) -> Message:
    buffer = MessageBuffer()
    buffer.feed(data)
    decoded = decode(buffer.next() or b"")
    assert decoded is not None
    return decoded
