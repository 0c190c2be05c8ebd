"""The checker finds what it is there for, and nothing else."""

import unittest

from checker import Gap, violations
from writes import Write, from_line

PERSON = "SBPerson|~|1"


class Script:
    """Writes of some machines, in the order of their commits; each takes a second."""

    def __init__(self) -> None:
        self.writes: list[Write] = []
        self._numbers: dict[str, int] = {}

    def write(self, machine: str, *fields: str, epoch: int = 0, at: float | None = None, **seen: str) -> str:
        number = self._numbers[machine] = self._numbers.get(machine, 0) + 1
        begin = len(self.writes) if at is None else at
        write = Write(machine, number, epoch, PERSON, fields, dict(seen), begin, begin + 1)
        self.writes.append(from_line(write.line()))
        return write.value


class CheckerTests(unittest.TestCase):
    def found(self, script: Script, row: dict[str, str | None] | None, *gaps: Gap, other: object = ...) -> list[str]:
        table = {} if row is None else {PERSON: row}
        tables = {"kitchen": table, "study": table if other is ... else {PERSON: other}}
        return violations(script.writes, list(gaps), tables, margin=60)

    def holds(self, script: Script, row: dict[str, str | None] | None, *gaps: Gap) -> None:
        self.assertEqual(self.found(script, row, *gaps), [])

    def fails(self, words: str, script: Script, row: dict[str, str | None] | None, *gaps: Gap) -> None:
        found = self.found(script, row, *gaps)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_of_two_who_did_not_see_each_other_either_may_win(self) -> None:
        script = Script()
        first = script.write("kitchen", "firstName")
        one = script.write("kitchen", "firstName", firstName=first)
        other = script.write("study", "firstName", firstName=first)
        self.holds(script, {"firstName": one})
        self.holds(script, {"firstName": other})
        self.fails("came after it", script, {"firstName": first})

    def test_a_later_write_wins_over_what_its_user_saw_also_by_others(self) -> None:
        script = Script()
        first = script.write("kitchen", "firstName", at=50)
        second = script.write("study", "firstName", firstName=first, at=49)
        third = script.write("attic", "firstName", firstName=second, at=48)
        self.holds(script, {"firstName": third})
        self.fails(third, script, {"firstName": second})

    def test_what_a_machine_showed_in_place_of_its_own_value_came_later(self) -> None:
        script = Script()
        own = script.write("kitchen", "firstName")
        other = script.write("study", "firstName")
        script.write("kitchen", "lastName", firstName=other)
        self.holds(script, {"firstName": other, "lastName": "kitchen-2"})
        self.fails("came after it", script, {"firstName": own, "lastName": "kitchen-2"})

    def test_no_clock_was_wrong_by_more_than_the_margin(self) -> None:
        script = Script()
        early = script.write("kitchen", "firstName", at=0)
        late = script.write("study", "firstName", at=62)
        self.holds(script, {"firstName": late})
        self.fails("long after", script, {"firstName": early})

    def test_what_nobody_wrote_is_found(self) -> None:
        script = Script()
        script.write("kitchen", "firstName", "lastName")
        self.fails("that nobody wrote", script, {"firstName": "study-9", "lastName": "kitchen-1"})
        self.fails("has no lastName", script, {"firstName": "kitchen-1", "lastName": None})
        self.assertIn("nobody wrote", self.found(Script(), {"firstName": "study-9"})[0])

    def test_a_record_is_missing_only_if_somebody_deleted_it(self) -> None:
        script = Script()
        value = script.write("kitchen", "firstName")
        self.fails("is missing", script, None)
        script.write("study", firstName=value)
        self.holds(script, None)

    def test_who_writes_long_after_a_deletion_brings_the_record_back(self) -> None:
        script = Script()
        value = script.write("kitchen", "firstName", at=0)
        script.write("study", firstName=value, at=2)
        soon = script.write("attic", "firstName", firstName=value, at=60)
        self.holds(script, None)
        self.holds(script, {"firstName": soon})
        script.write("attic", "firstName", firstName=soon, at=64)
        self.fails("long after", script, None)

    def test_a_deleted_record_comes_back_only_by_who_had_not_seen_that(self) -> None:
        script = Script()
        value = script.write("kitchen", "firstName")
        script.write("study", firstName=value)
        self.fails("is there", script, {"firstName": value})
        other = script.write("attic", "firstName", firstName=value)
        self.holds(script, {"firstName": other})

    def test_what_a_backup_took_away_is_not_owed(self) -> None:
        script = Script()
        value = script.write("kitchen", "firstName")
        lost = script.write("kitchen", "firstName", firstName=value)
        self.fails("came after it", script, {"firstName": value})
        self.holds(script, {"firstName": value}, Gap("kitchen", 1, 2))
        self.holds(script, {"firstName": lost}, Gap("kitchen", 1, 2))
        # What the machine shows afterwards is older than what it showed before.
        new = script.write("kitchen", "firstName", epoch=1, firstName=value)
        self.holds(script, {"firstName": lost}, Gap("kitchen", 1, 3))
        self.holds(script, {"firstName": new}, Gap("kitchen", 1, 2))

    def test_machines_hold_the_same(self) -> None:
        script = Script()
        script.write("kitchen", "firstName")
        found = self.found(script, {"firstName": "kitchen-1"}, other={"firstName": "kitchen-2"})
        self.assertEqual(len(found), 1)
        self.assertIn("kitchen and study differ in 1 records", found[0])


if __name__ == "__main__":
    unittest.main()
