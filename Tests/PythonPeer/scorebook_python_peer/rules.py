"""The rules that connect records, and what is shown (protocol.md 9.2, 9.3).

A peer without a schema need not apply them, and the sessions of this one do not; they are here for the test vectors.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .names import split_record_name
from .records import State, Write
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


Records = dict[str, State]


def settle(records: Records, references: list[Reference]) -> Records:
    """Applies the rules until nothing changes: first *delete*, then *revive*."""
    result = dict(records)
    for phase in (_delete, _revive):
        while any([phase(result, *link) for link in list(_links(result, references))]):
            pass
    return result


def _links(records: Records, references: list[Reference]) -> Iterator[tuple[str, Reference, str]]:
    """Each reference of a record that leads to a known record of the right type."""
    for name, state in records.items():
        for reference in _references_of(name, references):
            target = _target(state, reference)
            if target is not None and target in records:
                yield name, reference, target


def _references_of(name: str, references: list[Reference]) -> list[Reference]:
    record_type, _ = split_record_name(name)
    return [reference for reference in references if reference.type == record_type]


def _target(state: State, reference: Reference) -> str | None:
    """The record of the right type that a reference names."""
    write = state.fields.get(reference.field)
    name = referenced_name(write.value) if write else None
    return name if name is not None and split_record_name(name)[0] == reference.target else None


def _delete(records: Records, name: str, reference: Reference, target: str) -> bool:
    child, deletion = records[name], records[target].deletion
    if deletion is None:
        return False
    if reference.rule == NULLIFY:
        write = child.fields[reference.field]
        if write.stamp <= deletion and write.value != NULL:
            records[name] = replace(child, fields=child.fields | {reference.field: Write(NULL, write.stamp)})
            return True
    elif child.deletion is None or child.deletion < deletion:
        records[name] = replace(child, deletion=deletion)
        return True
    return False


def _revive(records: Records, name: str, reference: Reference, target: str) -> bool:
    child, parent = records[name], records[target]
    if child.is_deleted or not parent.is_deleted:
        return False
    life = child.fields[reference.field].stamp if reference.rule == NULLIFY else child.life
    if parent.revival is not None and parent.revival >= life:
        return False
    records[target] = replace(parent, revival=life)
    return True


def shown(records: Records, types: list[str], references: list[Reference]) -> set[str]:
    """The greatest set of records that are fit to be shown together (protocol.md 9.3)."""
    result = {name for name, state in records.items() if state.is_live and split_record_name(name)[0] in types}
    while held := {name for name in result if not _is_fit(name, records[name], references, result)}:
        result -= held
    return result


def _is_fit(name: str, state: State, references: list[Reference], shown: set[str]) -> bool:
    for reference in _references_of(name, references):
        write = state.fields.get(reference.field)
        if write is None or write.value == NULL:
            if reference.is_required:
                return False
        elif _target(state, reference) not in shown:
            return False
    return True
