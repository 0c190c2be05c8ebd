"""The rules that connect records, and what is shown (protocol.md 9.2, 9.3).

A peer without a schema need not apply them, and the sessions of this one do not; they are here for the test vectors.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .names import split_record_name
from .records import State
from .values import NULL, referenced_name

CASCADE, NULLIFY, DENY = "cascade", "nullify", "deny"


@dataclass(frozen=True)
class Reference:
    """A reference of a schema: a field of a type, and what happens when its target is deleted."""

    type: str
    field: str
    target: str
    rule: str
    is_required: bool


@dataclass
class Household:
    """All records that a replica holds, and the schema that it reads them with."""

    records: dict[str, State]
    types: list[str]
    references: list[Reference]
    elsewhere: set[str]
    """The records that are in another zone than the rest."""

    # Revival (protocol.md 9.2)

    def revive(self) -> None:
        """Raises revivals until nothing changes."""
        gone = {name for name, state in self.records.items() if state.is_deleted and not state.is_erased}
        while any([self._speak(name, gone) for name in list(self.records)]):
            pass

    def _speak(self, name: str, gone: set[str]) -> bool:
        """Lets a record that is not deleted bring back what it is below, and what its references name."""
        state = self.records[name]
        if state.is_deleted:
            return False
        revived = [self._raise(above, state.life) for above in self._above(name) & gone]
        for reference in self._references_of(name):
            target = self._target(name, reference)
            if reference.rule == NULLIFY and target in gone and self._is_neighbour(name, target):
                revived.append(self._raise(target, state.fields[reference.field].stamp))
        return any(revived)

    def _raise(self, name: str, stamp) -> bool:
        state = self.records[name]
        if stamp <= max(state.deletion, state.revival or state.deletion):
            return False
        self.records[name] = replace(state, revival=stamp)
        return True

    def _above(self, name: str) -> set[str]:
        """The records that a record is below: those it needs, those that these need, and so on."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            for needed in self._needs(waiting.pop()):
                if needed not in found:
                    found.add(needed)
                    waiting.append(needed)
        return found

    def _needs(self, name: str) -> Iterator[str]:
        for reference in self._references_of(name):
            target = self._target(name, reference)
            if reference.rule != NULLIFY and self._is_neighbour(name, target):
                yield target

    def _references_of(self, name: str) -> list[Reference]:
        record_type, _ = split_record_name(name)
        return [reference for reference in self.references if reference.type == record_type]

    def _target(self, name: str, reference: Reference) -> str | None:
        """The name of a record of the right type that a reference has."""
        write = self.records[name].fields.get(reference.field)
        target = referenced_name(write.value) if write else None
        return target if target is not None and split_record_name(target)[0] == reference.target else None

    def _is_neighbour(self, name: str, other: str | None) -> bool:
        """Whether a record is known, and in the zone of the first."""
        return other in self.records and (other in self.elsewhere) == (name in self.elsewhere)

    # What is shown (protocol.md 9.2, 9.3)

    def hidden(self) -> dict[str, str]:
        """The hidden records, each with the deleted one that hides it."""
        result = {}
        for name, state in self.records.items():
            deleted = [above for above in self._above(name) if self.records[above].is_deleted]
            if deleted and not state.is_deleted:
                result[name] = max(deleted, key=lambda above: self.records[above].deletion)
        return result

    def shown(self) -> set[str]:
        """The greatest set of records that are fit to be shown together."""
        hidden = self.hidden()
        result = {
            name for name, state in self.records.items()
            if state.is_live and name not in hidden and split_record_name(name)[0] in self.types
        }  # fmt: skip
        while unfit := {name for name in result if not self._is_fit(name, result)}:
            result -= unfit
        return result

    def _is_fit(self, name: str, shown: set[str]) -> bool:
        for reference in self._references_of(name):
            write = self.records[name].fields.get(reference.field)
            if write is None or write.value == NULL:
                if reference.is_required:
                    return False
                continue
            target = self._target(name, reference)
            if target is None or (reference.rule != NULLIFY and target not in shown):
                return False
        return True

    def held(self) -> set[str]:
        """What is neither shown nor hidden nor deleted."""
        out_of_sight = {name for name, state in self.records.items() if state.is_deleted} | set(self.hidden())
        return set(self.records) - out_of_sight - self.shown()

    def empty(self) -> set[tuple[str, str]]:
        """The references that are empty in the row of a record that is shown, although its state has them."""
        shown = self.shown()
        return {
            (name, reference.field)
            for name in shown
            for reference in self._references_of(name)
            if reference.rule == NULLIFY and (target := self._target(name, reference)) and target not in shown
        }
