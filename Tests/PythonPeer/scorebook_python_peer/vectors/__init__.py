"""Checks against the test vectors of Protocol/vectors; Protocol/README.md says how they are written."""

import json
from collections.abc import Callable
from pathlib import Path

from . import channels, discovery, exchanges, household, mailbox, records, sessions, unions

CHECKS: dict[str, Callable[[dict], None]] = {
    "clock.json": records.check_clock,
    "cpace-ristretto255.json": channels.check_cpace,
    "digests.json": records.check_digests,
    "discovery.json": discovery.check_discovery,
    "frames.json": channels.check_frames,
    "handshake.json": channels.check_handshake,
    "household.json": household.check_household,
    "keys.json": records.check_keys,
    "mailbox.json": mailbox.check_mailbox,
    "malformed.json": exchanges.check_malformed,
    "merge.json": records.check_merge,
    "messages.json": exchanges.check_messages,
    "noise-xx.json": channels.check_noise,
    "pairing-transcripts.json": channels.check_pairing_transcripts,
    "pairing.json": channels.check_pairing,
    "primitives.json": records.check_primitives,
    "reconciliation.json": exchanges.check_reconciliation,
    "rules.json": records.check_rules,
    "sessions.json": sessions.check_sessions,
    "transport-rekey.json": channels.check_rekey,
    "unions.json": unions.check_unions,
    "values.json": records.check_values,
}


def check_directory(directory: Path) -> bool:
    """Checks every file, prints a line for each, and says whether all passed."""
    passed = failed = 0
    for path in sorted(directory.glob("*.json")):
        check = CHECKS.get(path.name)
        try:
            if check is None:
                raise AssertionError("nothing here knows this file")
            check(json.loads(path.read_text()))
        except Exception as error:  # whatever goes wrong in a check is a failure of that file
            failed += 1
            print(f"{path.name}: failed: {type(error).__name__}: {error}")
        else:
            passed += 1
            print(f"{path.name}: passed")
    print(f"{passed} passed, {failed} failed")
    return failed == 0 and passed > 0
