import PeerSyncModel

/// Records that a peer did not take.
package struct Refusal: Sendable, Equatable {
    package enum Reason: Int64, Sendable {
        /// The peer may only read.
        case readOnly = 1
        /// The store that refuses has the records in another zone.
        case otherZone = 2
        /// The records are too large, or would be after the merge with the state in the store that refuses.
        case tooLarge = 3

        /// The reason as users of the library see it.
        package var reason: RefusedRecord.Reason {
            switch self {
            case .readOnly: .readOnly
            case .otherZone: .otherZone
            case .tooLarge: .tooLarge
            }
        }
    }

    package let names: [RecordName]
    package let reason: Reason

    package init(names: [RecordName], reason: Reason) {
        self.names = names
        self.reason = reason
    }

    /// The refusals of some records, by the number of their reasons.
    static func list(_ refused: RefusedNames) -> [Refusal] {
        refused.sorted { $0.key.rawValue < $1.key.rawValue }.map { Refusal(names: $0.value, reason: $0.key) }
    }
}
