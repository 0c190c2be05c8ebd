import PeerSyncModel
import PeerSyncStore

/// The household: the machines that accept each other, whichever of them were paired.
extension SyncEngine {
    /// Introduces paired machines to each other, and to those that this machine pairs with later. Machines that are paired
    /// from now on need no such call; those that were paired before, or by a user who said no then, do.
    ///
    /// The other machines have to do the same: a machine believes only those that it has introduced itself, or that came
    /// with these.
    ///
    /// - Parameter names: the names here of some machines that may write here; nil for all.
    /// - Throws: ``/PeerSyncStore/RecordStoreError`` `noSuchPeer`, `ambiguous`, `householdFull`.
    /// - Returns: the machines that are introduced now and were not before.
    @discardableResult
    public func introduce(_ names: [String]? = nil) async throws -> [Peer] {
        try await store.household.introduce(names, by: identity.publicKey.bytes)
    }

    /// Removes a machine from the household, for good: every other machine refuses it as soon as it hears of it, and only a
    /// new pairing brings it back. What it holds stays with it, and machines that it has introduced stay.
    ///
    /// - Parameter nameOrKey: its name here, or the beginning of its key.
    /// - Throws: ``/PeerSyncStore/RecordStoreError`` `noSuchPeer`, `ambiguous`.
    @discardableResult
    public func removeFromHousehold(_ nameOrKey: String) async throws -> HouseholdMember {
        try await store.household.remove(nameOrKey, by: identity.publicKey.bytes)
    }

    /// Keeps the machine that has typed the code of this one, with what the code gives it.
    ///
    /// - Throws: ``ProtocolError`` `pairingUnavailable` when somebody has taken the code back meanwhile.
    func keepCaller(key: [UInt8], name: String, from address: String, code: Int64?) async throws -> Peer {
        do {
            return try await store.peers.add(
                key: key, name: name, besides: displayName, from: address, code: code,
                introducedBy: identity.publicKey.bytes)
        } catch StorePairing.Refusal.unavailable {
            throw PairingDesk.unavailable
        }
    }
}
