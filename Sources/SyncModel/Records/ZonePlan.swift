/// What one side does in its store because of what the two have agreed on.
package struct ZonePlan: Sendable, Equatable {
    /// A zone that comes to this store.
    package struct TakenUp: Sendable, Equatable {
        package let id: ZoneID
        /// What it is called at the other side.
        package let name: String

        package init(id: ZoneID, name: String) {
            self.id = id
            self.name = name
        }
    }

    package enum Change: Sendable, Equatable {
        /// It stays as it is.
        case keep
        /// The other side gets nothing of it.
        case withhold
        /// It keeps its records, and is that zone from now on.
        case become(ZoneID)
        /// It loses its records, and is that zone from now on.
        case replace(by: ZoneID)
    }

    /// What becomes of this store's default zone.
    package struct DefaultZone: Sendable, Equatable {
        /// As it was offered. If another session has changed it since, nothing is done.
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

    package init(takenUp: [TakenUp], defaultZone: DefaultZone?) {
        self.takenUp = takenUp
        self.defaultZone = defaultZone
    }

    /// Whether this store gives up records.
    package var replaces: Bool {
        if case .replace? = defaultZone?.change { true } else { false }
    }
}
