"""Checks of numbers, values, states, digests and rules (protocol.md 1, 6, 8, 9)."""

from itertools import permutations

from .. import keys
from ..merge import merge
from ..records import Item, State, ZoneSum, item_of, next_time, record_id, replica_id, values_hash
from ..rules import Household, Reference
from ..values import read_value
from ..wire import Reader, encode_varint
from .notation import Json, equal, hexadecimal, plain, record, value


def check_primitives(vector: Json) -> None:
    for entry in vector["varints"]:
        equal("varint", encode_varint(int(entry["value"])), hexadecimal(entry["bytes"]))
    for entry in vector["varints"] + vector["longerVarints"]:
        reader = Reader(hexadecimal(entry["bytes"]))
        equal("number", (reader.varint(), reader.left), (int(entry["value"]), 0))
    for entry in vector["replicaIDs"]:
        equal("replica id", replica_id(hexadecimal(entry["bytes"])), int(entry["replica"], 16))


def check_clock(vector: Json) -> None:
    for tick in vector["ticks"]:
        equal(tick["why"], next_time(int(tick["greatest"], 16), int(tick["wallClock"])), int(tick["time"], 16))


def check_keys(vector: Json) -> None:
    for entry in vector["keys"]:
        key = [plain(part) for part in entry["values"]]
        equal(entry["suffix"], keys.suffix(key), entry["suffix"])
        equal(entry["suffix"], keys.key(entry["suffix"], [keys.kind(part) for part in key]), key)
    for values in vector["noSuffix"]:
        equal(f"{values}", keys.suffix([plain(part) for part in values]), None)
    for entry in vector["noKey"]:
        equal(entry["suffix"], keys.key(entry["suffix"], entry["kinds"]), None)


def check_values(vector: Json) -> None:
    seen = set()
    for entry in vector["values"]:
        canonical = hexadecimal(entry["canonical"])
        equal(f"{entry['value']}", value(entry["value"]), canonical)
        reader = Reader(canonical)
        equal(f"{entry['value']} read", (read_value(reader), reader.left), (canonical, 0))
        seen.add(canonical)
    equal("different values", len(seen), len(vector["values"]))


def check_merge(vector: Json) -> None:
    for case in vector["cases"]:
        states = [record(state)[1] for state in case["states"]]
        _, expected = record(case["result"])
        for order in permutations(states):
            result = State()
            for state in (*order, *order):
                result = merge(result, state)
            equal(case["why"], result, expected)
        kind = "live" if expected.is_live else "deleted" if expected.is_deleted else "hollow"
        equal(case["why"], kind, case["is"])
        travels = record(case.get("travels") or case["result"])[1]
        equal(f"{case['why']}, as it is sent", expected.as_sent(), travels)


def check_digests(vector: Json) -> None:
    states: dict[str, State] = {}
    for entry in vector["records"]:
        name, state = record(entry["state"])
        states[name] = state
        if "id" in entry:
            equal(f"vh of {name}", values_hash(state), hexadecimal(entry["valueHash"]))
            equal(f"id of {name}", record_id(name, state), hexadecimal(entry["id"]))
        item = entry["item"] and Item(int(entry["item"]["milliseconds"]), hexadecimal(entry["item"]["id"]))
        equal(f"item of {name}", item_of(name, state), item)
    for zone in vector["zones"]:
        live = [(name, states[name]) for name in zone["records"] if states[name].is_live]
        total = ZoneSum.over(record_id(name, state) for name, state in live)
        equal("count", total.count, int(zone["recordCount"]))
        _check_sum(total, zone)
    for entry in vector["sums"]:
        _check_sum(ZoneSum.over(map(hexadecimal, entry["ids"])), entry)


def _check_sum(total: ZoneSum, expected: Json) -> None:
    equal("sum", total.sum, hexadecimal(expected["sum"]))
    equal("fingerprint", total.fingerprint, hexadecimal(expected["fingerprint"]))


def check_rules(vector: Json) -> None:
    references = [Reference(r["type"], r["field"], r["target"], r["rule"], r["required"]) for r in vector["references"]]
    for case in vector["cases"]:
        why = case["why"]
        before = dict(record(state) for state in case["states"])
        for names in (list(before), list(reversed(before))):
            elsewhere = set(case.get("elsewhere", []))
            household = Household({name: before[name] for name in names}, vector["types"], references, elsewhere)
            household.revive()
            equal(why, household.records, dict(record(state) for state in case["after"]))
            hidden = household.hidden()
            equal(f"hidden: {why}", hidden, {entry["name"]: entry["by"] for entry in case["hidden"]})
            shown = household.shown()
            equal(f"shown: {why}", shown, set(case["shown"]))
            equal(f"held: {why}", household.held(), set(case["held"]))
            empty = {(entry["name"], entry["field"]) for entry in case["empty"]}
            equal(f"empty: {why}", household.empty(), empty)
            deleted = {name for name, state in household.records.items() if state.is_deleted}
            equal(f"each is one of these: {why}", deleted | set(hidden) | shown | household.held(), set(before))
