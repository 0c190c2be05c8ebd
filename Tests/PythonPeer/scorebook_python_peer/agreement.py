"""Which zones a session has, and what becomes of default zones that meet (protocol.md 7.12)."""

from dataclasses import dataclass

from .errors import ErrorCode, SessionError, unexpected
from .messages import ZONES_LIMIT, Hello, OfferedZone, Open, Right, Union
from .names import ZoneID
from .store import Store, Zone
from .tokens import START, Token


@dataclass(frozen=True)
class AgreedZone:
    """A zone of the session, and the received token that the other side named for it."""

    zone: Zone
    their_received: Token | None
    may_write_there: bool


class Agreement:
    """What the two hellos lead to, seen from one side."""

    def __init__(self, store: Store, peer: bytes, is_caller: bool, own: Hello, theirs: Hello) -> None:
        self._store = store
        self._peer = peer
        self._theirs = {offer.zone: offer for offer in theirs.zones}
        self._own = {offer.zone: offer for offer in own.zones}
        self._own_default = _default(own)
        self._their_default = _default(theirs)

    @property
    def _first_meeting(self) -> tuple[OfferedZone, OfferedZone] | None:
        """The two default zones, if both are offered and they are not known."""
        own, theirs = self._own_default, self._their_default
        if own is None or theirs is None or own.zone == theirs.zone:
            return None
        if {own.zone, theirs.zone} <= self._own.keys() or {own.zone, theirs.zone} <= self._theirs.keys():
            return None
        return own, theirs

    def choose(self, may_merge: bool) -> Union:
        """What a caller chooses, whose user has said nothing but perhaps --merge."""
        meeting = self._first_meeting
        if meeting is None:
            return Union.NONE
        own, theirs = meeting
        neither_shared = not own.is_shared and not theirs.is_shared
        one_is_empty = any(offer.count == 0 and not offer.is_shared for offer in meeting)
        if not (may_merge or neither_shared or one_is_empty or _hold_the_same(own, theirs)):
            raise SessionError(ErrorCode.DIFFERENT_SCOREBOOK, "the two scorebooks are different ones")
        self._check_merge(own, theirs)
        return Union.MERGE

    def allow(self, union: Union, may_merge: bool, may_be_replaced: bool) -> None:
        """What a listener says to the union that the caller chose."""
        meeting = self._first_meeting
        if union in (Union.REPLACE_CALLER, Union.REPLACE_LISTENER):
            own, theirs = self._own_default, self._their_default
            if own is None or theirs is None:
                raise SessionError(ErrorCode.NOT_PERMITTED, "the default zones are not shared")
            if (theirs if union == Union.REPLACE_CALLER else own).rights != Right.WRITE:
                raise SessionError(ErrorCode.NOT_PERMITTED, "whoever is to be replaced does not let the other write")
            if self._first_meeting and self._store.zone(theirs.zone) is not None:
                raise SessionError(ErrorCode.NOT_PERMITTED, "the other default zone is here already, beside this one")
            if union == Union.REPLACE_LISTENER and not may_be_replaced:
                raise SessionError(ErrorCode.DECLINED, "nobody is here to allow that this scorebook is replaced")
        if union in (Union.MERGE, Union.BESIDE) and meeting is None:
            raise unexpected("a union of default zones that do not meet for the first time")
        if union == Union.MERGE and meeting is not None:
            self._check_merge(*meeting)
            both_shared = all(offer.is_shared for offer in meeting)
            if both_shared and not _hold_the_same(*meeting) and not may_merge:
                raise SessionError(
                    ErrorCode.DIFFERENT_SCOREBOOK, "nobody is here to allow that two scorebooks become one"
                )

    def _check_merge(self, own: OfferedZone, theirs: OfferedZone) -> None:
        taken_away = self._store.zone(theirs.zone)
        if own.rights != Right.WRITE or theirs.rights != Right.WRITE or taken_away is not None:
            raise SessionError(ErrorCode.NOT_PERMITTED, "the default zones cannot become one")

    def _merged(self) -> ZoneID:
        """The id of the default zone after a merge."""
        own, theirs = self._own_default, self._their_default
        assert own is not None and theirs is not None
        if own.is_shared != theirs.is_shared:
            return own.zone if own.is_shared else theirs.zone
        return min(own.zone, theirs.zone)

    def carry_out(self, union: Union) -> None:
        """Does what was agreed; taking up zones of the other side is part of it."""
        with self._store.transaction():
            if self._own_default is not None and self._store.default_zone.id != self._own_default.zone:
                raise SessionError(ErrorCode.ZONES_CHANGED, "another session has changed the default zone")
            if union == Union.MERGE:
                self._store.rename_default_zone(self._merged())
            if union == Union.REPLACE_LISTENER and self._their_default is not None:
                self._store.replace_default_zone(self._their_default.zone)
            for offer in self._taken_up():
                self._store.add_zone(offer.zone, offer.title, self._peer)

    def _taken_up(self) -> list[OfferedZone]:
        """The zones of the other side that this one does not have and takes up: all but a default zone."""
        zones = self._store.zones()
        known = {zone.id for zone in zones}
        new = [offer for offer in self._theirs.values() if offer.zone not in known and not offer.is_default]
        return new[: max(ZONES_LIMIT - len(zones), 0)]

    def open(self, union: Union) -> Open:
        """The open of this side. A caller makes it before anything is carried out, a listener after."""
        named: dict[ZoneID, Token | None] = {offer.zone: None for offer in self._taken_up()}
        for zone in self._store.zones():
            if self._store.rights(self._peer, zone) != Right.NOTHING:
                zone_id = self._default_after(union) if zone.is_default else zone.id
                named[zone_id] = self._store.received_token(self._peer, zone.number)
                if zone.is_default and union == Union.REPLACE_LISTENER:
                    named[zone_id] = START
        return Open(union, dict(sorted(named.items())))

    def _default_after(self, union: Union) -> ZoneID:
        """The id of this side's default zone after the union."""
        if union == Union.MERGE:
            return self._merged()
        if union == Union.REPLACE_LISTENER and self._their_default is not None:
            return self._their_default.zone
        return self._store.default_zone.id

    def confirm(self, union: Union, their_open: Open) -> None:
        """A caller does what it chose only when the listener agrees."""
        if their_open.union != union or (union == Union.MERGE and self._merged() not in their_open.zones):
            raise unexpected("the listener has not agreed to what was chosen")

    def zones(self, own_open: Open, their_open: Open) -> list[AgreedZone]:
        """The zones of the session: those that both opens name, sorted by id."""
        agreed = []
        for zone_id in sorted(own_open.zones.keys() & their_open.zones.keys()):
            zone = self._store.zone(zone_id)
            if zone is None:
                raise SessionError(ErrorCode.ZONES_CHANGED, "a zone is not here any more")
            offer = self._theirs.get(zone_id)
            may_write = offer is None or offer.rights == Right.WRITE  # whoever takes a zone up lets its giver write
            agreed.append(AgreedZone(zone, their_open.zones[zone_id], may_write))
        if not agreed:
            raise SessionError(ErrorCode.NO_COMMON_ZONE, "the two have no zone in common")
        return agreed


def _default(hello: Hello) -> OfferedZone | None:
    return next((offer for offer in hello.zones if offer.is_default), None)


def _hold_the_same(a: OfferedZone, b: OfferedZone) -> bool:
    return (a.count, a.fingerprint) == (b.count, b.fingerprint)
