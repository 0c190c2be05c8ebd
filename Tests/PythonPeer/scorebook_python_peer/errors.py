"""The errors of protocol.md section 10, and the ways in which a session can end."""

from enum import IntEnum


class ErrorCode(IntEnum):
    """The codes of protocol.md 10. A reader meets codes that are not here, and treats them alike."""

    MALFORMED = 1
    UNEXPECTED_MESSAGE = 2
    UNSUPPORTED_VERSION = 3
    NOT_PAIRED = 4
    PAIRING_UNAVAILABLE = 5
    PAIRING_FAILED = 6
    PAIRING_BUSY = 7
    CLOCK_SKEW = 8
    NO_COMMON_ZONE = 9
    DIGEST_MISMATCH = 10
    STORE_FAILURE = 11
    TIMEOUT = 12
    TOO_BUSY = 13
    SAME_IDENTITY = 14
    CHANGE_TOKEN_EXPIRED = 15
    DUPLICATE_CONNECTION = 16
    STORE_BUSY = 17
    DIFFERENT_SCOREBOOK = 18
    NOT_PERMITTED = 19
    DECLINED = 20
    ZONES_CHANGED = 21
    SWITCHED_OFF = 22
    TOO_MANY_ATTEMPTS = 23
    REMOVED = 24


class PeerError(Exception):
    """The root of everything here that ends a session or a command with one sentence."""


class Malformed(PeerError):
    """Bytes that are no message of this protocol, or break a bound (protocol.md 1); sent as error 1."""


class SessionError(PeerError):
    """An error that this side found: it is sent to the other side, and ends the session."""

    def __init__(self, code: ErrorCode, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


class RemoteError(PeerError):
    """An error message that came from the other side."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(f"the other side ended the session with error {code}: {sentence}")
        self.code = code
        self.sentence = sentence


class RemoteGoodbye(PeerError):
    """The other side said goodbye (protocol.md 11)."""


class ConnectionCut(PeerError):
    """The connection ended without goodbye or error, or never became a session."""


def unexpected(what: str) -> SessionError:
    """Error 2: a message may not come at this point."""
    return SessionError(ErrorCode.UNEXPECTED_MESSAGE, what)
