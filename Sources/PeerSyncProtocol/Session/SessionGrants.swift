import PeerSyncModel

/// The grants of a session: its zones, the rights in them, and how often this store has given up its records. A change
/// of them ends the session.
package struct SessionGrants: Sendable, Hashable {
    private let zones: [ZoneID]
    private let rights: [ZoneRights]
    private let erasures: Int64

    package init(zones: [ZoneID], rights: [ZoneRights], erasures: Int64) {
        self.zones = zones
        self.rights = rights
        self.erasures = erasures
    }
}
