/// The changes that one side makes in its store once the two sides have agreed.
package struct ZonePlan: Sendable, Equatable {
    /// A zone that this store takes up.
    package struct TakenUp: Sendable, Equatable {
        package let id: ZoneID
        /// The zone's name at the other side.
        package let name: String

        package init(id: ZoneID, name: String) {
            self.id = id
            self.name = name
        }
    }

    /// A zone that the other side offers and this side does not take.
    package struct Offered: Sendable, Equatable {
        package let id: ZoneID
        /// What this side may do in it there.
        package let rights: ZoneRights

        package init(id: ZoneID, rights: ZoneRights) {
            self.id = id
            self.rights = rights
        }
    }

    package enum Change: Sendable, Equatable {
        /// The zone stays as it is.
        case keep
        /// The other side gets no records of the zone.
        case withhold
        /// The zone keeps its records, and becomes the given zone.
        case become(ZoneID)
        /// The zone loses its records, and becomes the given zone.
        case replace(by: ZoneID)
    }

    /// The change of this store's default zone.
    package struct DefaultZone: Sendable, Equatable {
        /// The zone's id as it was offered. If another session has changed the zone since, the store does nothing.
        package let id: ZoneID
        package let isShared: Bool
        package let change: Change

        package init(id: ZoneID, isShared: Bool, change: Change) {
            self.id = id
            self.isShared = isShared
            self.change = change
        }
    }

    package let takenUp: [TakenUp]
    package let defaultZone: DefaultZone?
    /// The zones that stay away until the user of this side says otherwise.
    package let offered: [Offered]

    package init(takenUp: [TakenUp], defaultZone: DefaultZone?, offered: [Offered] = []) {
        self.takenUp = takenUp
        self.defaultZone = defaultZone
        self.offered = offered
    }

    /// Whether this store gives up records.
    package var replaces: Bool {
        if case .replace? = defaultZone?.change { true } else { false }
    }
}
