"""Tries an implementation of Protocol/ from outside: pairs with it, plays sessions with it, and breaks the rules towards it.

Prints a table: whether it held, the section of protocol.md, the role that this kit played, and what was tried; with the
bytes of what did not hold. Exit 0 only if all that was tried held. Protocol/README.md says what an implementer provides.
"""

import argparse
import asyncio
import shlex
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Iterator
from functools import partial
from pathlib import Path

import handshake_cases  # noqa: F401 (adds its cases)
import message_cases  # noqa: F401
from checks import AT_LAST, CALLS, IS_CALLED, PAIRING, Check
from kit import Hook, Kit, NotTried
from machines import give_up
from probe import CALLER, CASES, CUT, HANDSHAKES, LISTENER, Case, HandshakeCase, Probe
from scorebook_python_peer.channel import Channel
from scorebook_python_peer.errors import PeerError
from scorebook_python_peer.pairing import parse_code
from scorebook_python_peer.store import Store

HELD, FAILED, LEFT_OUT = "held", "NOT HELD", "not tried"
BYTES_SHOWN = 120
MESSAGES_SHOWN = 8


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/conformance", description=__doc__)
    parser.add_argument("address", metavar="HOST:PORT", help="where the other machine listens")
    parser.add_argument("code", metavar="CODE", type=parse_code, help="the code that it shows")
    parser.add_argument("--do", metavar="COMMAND", help="makes the other machine do something: put, delete, connect")
    parser.add_argument("--only", metavar="TEXT", action="append", default=[],
                        help="behind the pairing: what has this in its line, as in '7.4 caller'")  # fmt: skip
    parser.add_argument("--skip", metavar="TEXT", action="append", default=[], help="the reverse")
    parser.add_argument("--host", help="the address at which the other machine reaches this one")
    parser.add_argument("--directory", type=Path, help="where the kit's own stores go; a temporary one if it is left out")
    arguments = parser.parse_args()
    # Whoever has started this may have blocked signals, and what is started here would inherit that and never end.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.signal(signal.SIGALRM, give_up)
    if arguments.directory:
        arguments.directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="conformance-", dir=arguments.directory) as directory:
        hook = Hook(shlex.split(arguments.do)) if arguments.do else None
        kit = Kit(arguments.address, arguments.code, hook, Path(directory), arguments.host)
        return Run(kit, arguments.only, arguments.skip).all()


class Run:
    """Tries one thing after the other, and prints a line for each."""

    def __init__(self, kit: Kit, only: list[str], skip: list[str]) -> None:
        self._kit = kit
        self._only = only
        self._skip = skip
        self._counts: Counter[str] = Counter()

    def all(self) -> int:
        print(f"{'':9}  {'section':8} {'this side':9} what was tried", flush=True)
        for check in PAIRING:
            self._try(check)
        if self._kit.name:
            for check in (*CALLS, *IS_CALLED, *_broken_rules(CALLER), *_broken_rules(LISTENER), *AT_LAST):
                if self._is_wanted(check):
                    self._try(check)
        else:
            print("The two are not paired, so nothing else can be tried.")
        held, failed, left_out = (self._counts[outcome] for outcome in (HELD, FAILED, LEFT_OUT))
        print(f"{held + failed} tried, {failed} did not hold; {left_out} not tried")
        return 1 if failed or not held else 0

    def _is_wanted(self, check: Check) -> bool:
        line = f"{check.section} {check.role} {check.name}"
        if any(text in line for text in self._skip):
            return False
        return not self._only or any(text in line for text in self._only)

    def _try(self, check: Check) -> None:
        Channel.tape = []
        outcome, reason = HELD, ""
        try:
            check.run(self._kit)
        except NotTried as what:
            outcome, reason = LEFT_OUT, f": {what}"
        except Exception as error:
            outcome, reason = FAILED, f": {str(error).strip() or type(error).__name__}"
        self._counts[outcome] += 1
        print(f"{outcome:9}  {check.section:8} {check.role:9} {check.name}{reason}", flush=True)
        if outcome == FAILED:
            for direction, content in Channel.tape[-MESSAGES_SHOWN:]:
                more = f"… ({len(content)} bytes)" if len(content) > BYTES_SHOWN else ""
                print(f"{'':11}{direction:9}{content[:BYTES_SHOWN].hex()}{more}", flush=True)


def _broken_rules(role: str) -> Iterator[Check]:
    """The cases of the probe as checks."""
    for shake in HANDSHAKES:
        if shake.role == role:
            yield Check(shake.section, role, shake.name, partial(_shake, shake))
    for case in CASES:
        if role in case.roles:
            yield Check(case.section, role, case.name, partial(_play, case, role))


def _shake(case: HandshakeCase, kit: Kit) -> None:
    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, store: Store) -> str:
        return await _in_time(case.play(reader, writer, store))

    # A caller that is told a code must not know the machine already.
    machine = kit.first if case.role == CALLER else kit.stranger
    _expect(case.expected, asyncio.run(kit.connection(case.role, play, machine, case.code)))


def _play(case: Case, role: str, kit: Kit) -> None:
    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, store: Store) -> str:
        shaking = Channel.call if role == CALLER else Channel.answer
        probe = Probe(await shaking(reader, writer, store.identity), store, role == CALLER)

        async def talk() -> str:
            await case.play(probe)
            return await probe.outcome()

        return await _in_time(talk())

    _expect(case.expected, asyncio.run(kit.connection(role, play, kit.first)))


async def _in_time(talk: Awaitable[str]) -> str:
    try:
        async with asyncio.timeout(60):
            return await talk
    except AssertionError as error:
        return f"the stage was not reached: {error}"
    except TimeoutError:
        return "no answer"
    except (PeerError, OSError) as error:
        return f"{CUT} ({error})"


def _expect(expected: str, outcome: str) -> None:
    assert outcome.split(" (")[0] == expected, f"{outcome} instead of {expected}"


if __name__ == "__main__":
    sys.exit(main())
