import SyncModel

/// Records of a peer that were not taken.
package struct Refusal: Sendable, Equatable {
    package enum Reason: Int64, Sendable {
        /// The peer may only read.
        case readOnly = 1
        /// The records are in another zone of the store that refuses.
        case otherZone = 2
        /// The records are too large, or would be when they are merged with what the store that refuses has.
        case tooLarge = 3

        /// What a user of the library is told.
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
}
