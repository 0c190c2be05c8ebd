"""Pairing with a code of six digits (protocol.md section 4)."""

import hmac
import re
import secrets
import time
from dataclasses import dataclass

from . import cpace
from .errors import ErrorCode, SessionError

CONTEXT = b"scorebook-peer pairing v1"
CODE_SECONDS = 300
CODE_ATTEMPTS = 3


def parse_code(typed: str) -> str:
    """The six digits of a typed code, with the hyphen in the middle or without any (protocol.md 4.2)."""
    if not re.fullmatch(r"[0-9]{3}-?[0-9]{3}", typed):
        raise ValueError("a pairing code has the form NNN-NNN")
    return typed.replace("-", "")


class Proof:
    """One side of a run of CPace with the values of protocol.md 4.3."""

    def __init__(
        self, is_caller: bool, code: str, session: bytes, caller_key: bytes, listener_key: bytes,
        scalar: int | None = None,
    ) -> None:  # fmt: skip
        self._is_caller = is_caller
        self._session = session
        self._scalar = scalar or cpace.random_scalar()
        self.channel = CONTEXT + caller_key + listener_key
        self.associated = (b"initiator" + caller_key, b"responder" + listener_key)
        self.share = cpace.generator(code.encode(), self.channel, session).times(self._scalar).encode()
        self.session_key = b""
        self.key = b""
        self._other_share = b""

    def take(self, share: bytes) -> None:
        """Takes the other side's share in. BadShare if it must end the pairing."""
        point = cpace.shared_point(self._scalar, self.share, share)
        self._other_share = share
        yi, yr = (self.share, share) if self._is_caller else (share, self.share)
        adi, adr = self.associated
        self.session_key = cpace.intermediate_session_key(self._session, point, yi, adi, yr, adr)
        self.key = cpace.confirmation_key(self._session, self.session_key)

    @property
    def tag(self) -> bytes:
        """What this side proves with."""
        return cpace.tag(self.key, self.share, self.associated[0 if self._is_caller else 1])

    @property
    def expected_tag(self) -> bytes:
        return cpace.tag(self.key, self._other_share, self.associated[1 if self._is_caller else 0])

    def accepts(self, tag: bytes) -> bool:
        return hmac.compare_digest(tag, self.expected_tag)


@dataclass
class Desk:
    """What a listener knows of the code that it shows (protocol.md 4.2)."""

    code: str = ""
    expires: float = 0
    attempts_left: int = 0
    is_busy: bool = False
    zone: int | None = None
    """All that the machine gets that pairs; None for what every paired machine gets."""

    def show(self) -> str:
        """Draws a new code; an older one is void from now on."""
        self.code = f"{secrets.randbelow(1_000_000):06}"
        self.expires = time.monotonic() + CODE_SECONDS
        self.attempts_left = CODE_ATTEMPTS
        return f"{self.code[:3]}-{self.code[3:]}"

    def begin_attempt(self) -> str:
        """Counts an attempt and gives the code, or says why there is none (protocol.md 4.4)."""
        if not self.code or time.monotonic() > self.expires or self.attempts_left == 0:
            raise SessionError(ErrorCode.PAIRING_UNAVAILABLE, "no pairing code is valid here")
        if self.is_busy:
            raise SessionError(ErrorCode.PAIRING_BUSY, "another machine is trying the code")
        self.attempts_left -= 1
        self.is_busy = True
        return self.code

    def check_is_shown(self, code: str) -> None:
        """An attempt may be finished after the code has expired, but not when another is shown (protocol.md 4.2)."""
        if self.code != code:
            raise SessionError(ErrorCode.PAIRING_UNAVAILABLE, "this pairing code is not shown any more")

    def end_attempt(self, code: str, succeeded: bool) -> None:
        self.is_busy = False
        if succeeded and self.code == code:
            self.code = ""
