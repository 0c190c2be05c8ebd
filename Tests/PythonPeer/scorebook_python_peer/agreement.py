"""Which zones a session has, and what becomes of default zones that meet (protocol.md 7.12)."""

from dataclasses import dataclass

from .errors import ErrorCode, SessionError, unexpected
from .messages import ZONES_LIMIT, Hello, OfferedZone, Open, Right, Union
from .names import ZoneID
from .store import Store, Zone
from .tokens import START, Token

REPLACING = (Union.REPLACE_CALLER, Union.REPLACE_LISTENER)


@dataclass(frozen=True)
class AgreedZone:
    """A zone of the session, and the received token that the other side named for it."""

    zone: Zone
    their_received: Token | None
    may_write_there: bool


@dataclass(frozen=True)
class Meeting:
    """The two default zones, where both are offered."""

    caller: OfferedZone
    listener: OfferedZone
    is_first: bool
    """Whether they are not known: two zones, and neither side offers both."""

    @property
    def hold_the_same(self) -> bool:
        return (self.caller.count, self.caller.fingerprint) == (self.listener.count, self.listener.fingerprint)

    @property
    def is_one_new(self) -> bool:
        return any(offer.count == 0 and not offer.is_shared for offer in (self.caller, self.listener))

    @property
    def is_caller_new(self) -> bool:
        return self.caller.count == 0 and not self.caller.is_shared

    @property
    def shared(self) -> int:
        return self.caller.is_shared + self.listener.is_shared

    def is_possible(self, union: Union) -> bool:
        """Whether whoever is to get records takes them. The rights of an offer are those of its receiver."""
        caller_takes, listener_takes = self.caller.rights == Right.WRITE, self.listener.rights == Right.WRITE
        match union:
            case Union.MERGE:
                return caller_takes and listener_takes
            case Union.REPLACE_CALLER:
                return caller_takes
            case Union.REPLACE_LISTENER:
                return listener_takes
        return True

    def target(self, union: Union) -> ZoneID | None:
        """The zone that both have after a union that brings the two together."""
        match union:
            case Union.REPLACE_CALLER:
                return self.listener.zone
            case Union.REPLACE_LISTENER:
                return self.caller.zone
            case Union.MERGE if self.shared == 1:
                return self.caller.zone if self.caller.is_shared else self.listener.zone
            case Union.MERGE:
                return min(self.caller.zone, self.listener.zone)
        return None


class Agreement:
    """What the two hellos lead to, seen from one side."""

    def __init__(self, store: Store, peer: bytes, is_caller: bool, own: Hello, theirs: Hello) -> None:
        self._store = store
        self._peer = peer
        self._is_caller = is_caller
        self._theirs = {offer.zone: offer for offer in theirs.zones}
        self._own_default = _default(own)
        self._their_default = _default(theirs)
        caller, listener = (own, theirs) if is_caller else (theirs, own)
        self._meeting = _meeting(caller, listener)

    # Choosing

    def choose(self, wanted: Union | None) -> Union:
        """What a caller chooses; `wanted` is what its user has said."""
        meeting = self._meeting
        if meeting is None:
            if wanted in REPLACING:
                raise SessionError(ErrorCode.NOT_PERMITTED, "the two do not share their default zones")
            return Union.NONE
        if not meeting.is_first and wanted not in REPLACING:
            return Union.NONE
        if wanted is None:
            wanted = self._usual(meeting)
        self._check_rights(meeting, wanted)
        self._check_target(meeting, wanted)
        return wanted

    def _usual(self, meeting: Meeting) -> Union:
        if meeting.hold_the_same or meeting.is_one_new:
            if meeting.is_possible(Union.MERGE):
                return Union.MERGE
            takes_up = meeting.is_caller_new and meeting.is_possible(Union.REPLACE_CALLER)
            return Union.REPLACE_CALLER if takes_up else Union.NONE
        if meeting.shared:
            raise SessionError(ErrorCode.DIFFERENT_SCOREBOOK, "the two scorebooks are different ones")
        return Union.MERGE

    def allow(self, union: Union, consent: bool | None) -> None:
        """What a listener says to the union that the caller chose.

        `consent` is what its user says when they are asked; None if nobody is there.
        """
        if union == Union.NONE:
            return
        meeting = self._meeting
        if meeting is None or not (meeting.is_first or union in REPLACING):
            raise unexpected("a union of default zones that do not meet for the first time")
        self._check_rights(meeting, union)
        is_plain = meeting.hold_the_same or meeting.is_one_new
        is_mixed = union == Union.MERGE and meeting.shared > 0 and not is_plain
        if is_mixed and consent is None:
            raise SessionError(ErrorCode.DIFFERENT_SCOREBOOK, "nobody is here to allow that two scorebooks become one")
        if (is_mixed or union == Union.REPLACE_LISTENER) and not consent:
            raise SessionError(ErrorCode.DECLINED, "nobody here has allowed it")
        self._check_target(meeting, union)

    def _check_rights(self, meeting: Meeting, union: Union) -> None:
        if not meeting.is_possible(union):
            raise SessionError(ErrorCode.NOT_PERMITTED, "one of the two may only read, so it cannot give anything")

    def _check_target(self, meeting: Meeting, union: Union) -> None:
        is_taken_up = union == Union.BESIDE and self._is_caller and self._store.zone(meeting.listener.zone) is None
        if is_taken_up and len(self._store.zones()) >= ZONES_LIMIT:
            raise SessionError(ErrorCode.NOT_PERMITTED, f"a store has at most {ZONES_LIMIT} zones, and has them already")
        target = meeting.target(union)
        if target not in (None, self._store.default_zone.id) and self._store.zone(target) is not None:
            raise SessionError(ErrorCode.NOT_PERMITTED, "the zone is here already, beside the default zone")

    # Doing

    def zone_to_be(self, union: Union) -> ZoneID | None:
        """The zone that both default zones become, if they become one."""
        return self._meeting.target(union) if self._meeting else None

    def carry_out(self, union: Union) -> None:
        """Does what was agreed; taking up zones of the other side is part of it."""
        with self._store.transaction():
            for offer in self._taken_up(union):
                self._store.add_zone(offer.zone, offer.title, self._peer)
            own, zone = self._own_default, self._store.default_zone
            if union == Union.NONE or own is None or self._meeting is None:
                return
            if (zone.id, zone.is_shared) != (own.zone, own.is_shared):
                raise SessionError(ErrorCode.ZONES_CHANGED, "another session has changed the default zone")
            target = self._meeting.target(union)
            if target is not None and self._is_replaced(union):
                self._store.replace_default_zone(target)
            elif target is not None:
                self._store.rename_default_zone(target)
            elif union == Union.BESIDE and self._is_caller:
                self._store.grant(self._peer, self._store.default_zone.number, Right.NOTHING)

    def _is_replaced(self, union: Union) -> bool:
        return union == (Union.REPLACE_CALLER if self._is_caller else Union.REPLACE_LISTENER)

    def _taken_up(self, union: Union) -> list[OfferedZone]:
        """The zones of the other side that this one does not have and takes up."""
        zones = self._store.zones()
        known = {zone.id for zone in zones}
        takes_default = union == Union.BESIDE and self._is_caller
        new = [
            offer
            for offer in self._theirs.values()
            if offer.zone not in known and (takes_default or not offer.is_default)
        ]
        return new[: max(ZONES_LIMIT - len(zones), 0)]

    def open(self, union: Union, starts_over: bool = False) -> Open:
        """The open of this side. A caller makes it before anything is carried out, a listener after."""
        fresh = START if starts_over else None
        named: dict[ZoneID, Token | None] = {offer.zone: fresh for offer in self._taken_up(union)}
        target = self.zone_to_be(union)
        for zone in self._store.zones():
            leaves_default = zone.is_default and union == Union.BESIDE and self._is_caller
            if self._store.rights(self._peer, zone) == Right.NOTHING or leaves_default:
                continue
            begins_anew = starts_over or (zone.is_default and self._is_replaced(union))
            zone_id = target if target is not None and zone.is_default else zone.id
            named[zone_id] = START if begins_anew else self._store.received_token(self._peer, zone.number)
        return Open(union, dict(sorted(named.items())))

    def confirm(self, union: Union, their_open: Open) -> None:
        """A caller does what it chose only when the listener agrees."""
        meeting = self._meeting
        agreed = self.zone_to_be(union)
        if union == Union.BESIDE and meeting is not None:
            agreed = meeting.listener.zone
        if their_open.union != union or (agreed is not None and agreed not in their_open.zones):
            raise unexpected("the listener has not agreed to what was chosen")

    def zones(self, own_open: Open, their_open: Open) -> list[AgreedZone]:
        """The zones of the session: those that both opens name, sorted by id."""
        agreed = []
        for zone_id in sorted(own_open.zones.keys() & their_open.zones.keys()):
            zone = self._store.zone(zone_id)
            if zone is None:
                raise SessionError(ErrorCode.ZONES_CHANGED, "a zone is not here any more")
            offer = self._theirs.get(zone_id, self._their_default)
            may_write = offer is not None and offer.rights == Right.WRITE
            agreed.append(AgreedZone(zone, their_open.zones[zone_id], may_write))
        if not agreed:
            raise SessionError(ErrorCode.NO_COMMON_ZONE, "the two have no zone in common")
        return agreed


def _default(hello: Hello) -> OfferedZone | None:
    return next((offer for offer in hello.zones if offer.is_default), None)


def _meeting(caller: Hello, listener: Hello) -> Meeting | None:
    first, second = _default(caller), _default(listener)
    if first is None or second is None:
        return None
    both = {first.zone, second.zone}
    offers = [{offer.zone for offer in hello.zones} for hello in (caller, listener)]
    return Meeting(first, second, not any(both <= offered for offered in offers))
