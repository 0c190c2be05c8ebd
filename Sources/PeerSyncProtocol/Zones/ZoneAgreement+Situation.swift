import PeerSyncModel

extension ZoneAgreement {
    /// The knowledge of one side before the agreement.
    package struct Situation: Sendable {
        /// This side's name for the other.
        package var peer: String
        package var isCaller: Bool
        /// The zones that this side's *hello* offers.
        package var own: [ZoneOffer]
        /// The zones that the other side's *hello* offers.
        package var theirs: [ZoneOffer]
        /// All zones of this store, also those that the other side may not have.
        package var held: Set<ZoneID>
        /// The zones that a user has deleted here, and that do not come back by themselves.
        package var declined: Set<ZoneID> = []
        /// The other side's clock as it greeted, in milliseconds since 1970; 0 if it has not said.
        package var clock: Int64 = 0
    }
}
