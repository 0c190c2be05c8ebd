"""State to state (protocol.md 9.1)."""

from .records import Stamp, State, Write


def beats(a: Write, b: Write) -> bool:
    """Whether a wins over b, two writes of one field."""
    if a.stamp != b.stamp:
        return a.stamp > b.stamp
    return a.value > b.value


def merge(s: State, t: State) -> State:
    """The join of two states of one record: commutative, associative, idempotent."""
    fields = dict(s.fields)
    for name, write in t.fields.items():
        own = fields.get(name)
        if own is None or beats(write, own):
            fields[name] = write
    erasure = _later(s.erasure, t.erasure)
    return State(fields, _later(s.deletion, t.deletion), _later(s.revival, t.revival), erasure).without_erased_fields()


def _later(a: Stamp | None, b: Stamp | None) -> Stamp | None:
    if a is None or b is None:
        return a or b
    return max(a, b)
