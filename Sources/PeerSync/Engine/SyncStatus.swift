import PeerSyncStore

/// What the store holds, how it stands with each machine, and what is on its way now: ``SyncEngine/status``.
///
/// The properties of ``store`` are properties of the status, too.
@dynamicMemberLookup
public struct SyncStatus: Sendable, Equatable {
    /// What the store holds, and how it stands with each paired machine.
    public let store: StoreStatus
    /// What the sessions of this engine have moved and what is left, by the machine's name. A machine is in it from the first
    /// records of a session, or those of a later change, until nothing is left that this engine knows of.
    public let progress: [String: SessionStatistics]

    /// Makes a status for previews and tests of an app; see the properties.
    public init(store: StoreStatus, progress: [String: SessionStatistics] = [:]) {
        self.store = store
        self.progress = progress
    }

    /// Gives a property of the store's status.
    public subscript<Value>(dynamicMember property: KeyPath<StoreStatus, Value>) -> Value {
        store[keyPath: property]
    }
}
