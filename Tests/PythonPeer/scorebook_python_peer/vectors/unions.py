"""What the two hellos lead to (protocol.md 7.12): unions.json."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..agreement import Agreement
from ..errors import SessionError
from ..messages import Hello, Open, Union
from ..names import ZoneID
from ..noise import KeyPair
from ..store import Store
from .notation import Json, equal, hexadecimal, offered_zone, optional_token

KEY = bytes(32)


def check_unions(vector: Json) -> None:
    for kind, check in (("choices", _check_choice), ("answers", _check_answer), ("confirmations", _check_confirmation)):
        for case in vector[kind]:
            for result in case["results"]:
                with _agreement(case, is_caller=kind != "answers") as agreement:
                    check(f"{kind}: {case['why']} {result}", agreement, result)


def _check_choice(what: str, agreement: Agreement, result: Json) -> None:
    wanted = None if result["wanted"] is None else Union(result["wanted"])
    equal(what, _outcome(lambda: agreement.choose(wanted)), (result["chooses"], result["error"]))


def _check_answer(what: str, agreement: Agreement, result: Json) -> None:
    union = Union(result["union"])
    _, error = _outcome(lambda: agreement.allow(union, result["allows"]))
    zone = agreement.zone_to_be(union) if error is None else None
    equal(what, (zone, error), (_zone(result["zoneToBe"]), result["error"]))


def _check_confirmation(what: str, agreement: Agreement, result: Json) -> None:
    answer = result["open"]
    zones = {_zone(zone): optional_token(zone["received"]) for zone in answer["zones"]}
    said = Open(Union(answer["union"]), zones)
    _, error = _outcome(lambda: agreement.confirm(Union(result["union"]), said))
    equal(what, error, result["error"])


def _outcome(decide: Callable[[], Union | None]) -> tuple[int | None, int | None]:
    """The union that comes of it, and the code of the error."""
    try:
        union = decide()
    except SessionError as error:
        return None, error.code.value
    return (None if union is None else union.value), None


def _zone(json: Json) -> ZoneID | None:
    return ZoneID(json["name"], int(json["owner"], 16)) if json is not None else None


@contextmanager
def _agreement(case: Json, is_caller: bool) -> Iterator[Agreement]:
    """What one side makes of the hellos. Its store has the zones that the case says, and no more."""
    own, other = (case["caller"], case["listener"]) if is_caller else (case["listener"], case["caller"])
    with tempfile.TemporaryDirectory() as directory:
        store = Store(Path(directory), KeyPair(KEY), lambda: 0, lambda: bytes(8))
        store.add_peer(KEY, "other")
        for offer in own["offers"]:
            if offer["default"]:
                store.rename_default_zone(_zone(offer))
            else:
                store.add_zone(_zone(offer), offer["calledHere"])
        for zone in own["alsoHas"]:
            store.add_zone(_zone(zone), zone["name"])
        yield Agreement(store, KEY, is_caller, _hello(own), _hello(other))
        store.close()


def _hello(side: Json) -> Hello:
    return Hello(0, 0, 0, "", 0, [offered_zone(offer) for offer in side["offers"]])
