"""Introductions, sets of them, and what becomes of two (protocol.md 7.13): household.json."""

from ..household import Entry, Gets, Household, Introduction, Removal
from ..wire import Reader
from .notation import Json, equal, hexadecimal, household_entry


def check_household(vector: Json) -> None:
    for case in vector["introductions"]:
        introduction = household_entry(case["entry"]).introduction
        equal(f"encoding of {introduction.name}", introduction.encoded, hexadecimal(case["encoded"]))
        equal(f"id of {introduction.name}", introduction.id, hexadecimal(case["id"]))
        equal(f"read again: {introduction.name}", Introduction.read(Reader(introduction.encoded)), introduction)
    for case in vector["unions"]:
        _check_union(case)
    for case in vector["full"]:
        _check_full(case)


def _set(what: str, json: Json) -> Household:
    household = Household([household_entry(entry) for entry in json["entries"]])
    equal(f"{what}: encoding", household.encoded, hexadecimal(json["encoded"]))
    equal(f"{what}: digest", household.digest, hexadecimal(json["digest"]))
    equal(f"{what}: read again", Household.read(Reader(household.encoded)), household)
    return household


def _check_union(case: Json) -> None:
    why = case["why"]
    one, other, both = (_set(f"{why}: {which}", case[which]) for which in ("one", "other", "union"))
    equal(why, one.union(other), both)
    equal(f"{why}, the other way round", other.union(one), both)
    equal(f"{why}, again", both.union(one), both)
    members = {hexadecimal(member["key"]): hexadecimal(member["id"]) for member in case["members"]}
    equal(f"{why}: members", {key: told.id for key, told in both.members.items()}, members)
    equal(f"{why}: removed", both.removed, {hexadecimal(key) for key in case["removed"]})


def _check_full(case: Json) -> None:
    removal = Removal(b"\x01" * 32, int(case["removal"]))
    entries = [
        Entry(
            Introduction(number.to_bytes(16, "big"), b"\x06" * 32, "n", Gets.ALL, b"\x01" * 32, 0),
            removal if number < case["removed"] else None,
        )
        for number in range(case["count"])
    ]
    held = case["held"]
    household = Household(entries[len(entries) - held :]).union(Household(entries[: len(entries) - held]))
    left = [n for n, entry in enumerate(entries) if entry.introduction.id not in household.entries]
    equal(f"no room among {case['count']}", left, case["left"])
    equal(f"digest of {case['count']}", household.digest, hexadecimal(case["digest"]))
