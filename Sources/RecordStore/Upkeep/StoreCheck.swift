import Foundation
import GRDB
import SyncModel

/// What a look at every record of a store has found.
public struct StoreCheck: Sendable, Equatable {
    /// A record of which the tables and what sync knows do not agree.
    public struct Finding: Sendable, Hashable {
        public enum Kind: String, Sendable, Encodable {
            /// The table has a row that sync knows nothing of: it was written past the triggers, or what sync knew of
            /// it is gone.
            case unknownRow
            /// The row has other values than sync last knew: it was changed past the triggers.
            case changedRow
            /// Sync knows of a row that is gone: it was deleted past the triggers.
            case missingRow
            /// The row's name is none that can be synced; nothing can mend it but another name.
            case invalidName
            /// What sync knows of the record cannot be read.
            case damagedMetadata
            /// The record takes more than ``RecordStore/maximumRecordSize``; it stays here until it is smaller.
            case tooLarge

            /// Whether ``StoreUpkeep/repair(_:)`` mends it. A name, or what is written in a record, has to be changed by
            /// who wrote it.
            public var isMendable: Bool { ![.invalidName, .tooLarge].contains(self) }
        }

        public let name: String
        public let kind: Kind
    }

    /// The digest that the store keeps up to date for a zone, and the one that its records have.
    public struct Digests: Sendable, Equatable {
        /// What the zone is called here.
        public let zone: String
        public let kept: ZoneDigest
        public let found: ZoneDigest
    }

    /// By record name.
    public let findings: [Finding]
    /// The default zone's first.
    public let digests: [Digests]

    /// Those of the default zone.
    public var keptDigest: ZoneDigest { digests.first?.kept ?? ZoneDigest() }
    public var foundDigest: ZoneDigest { digests.first?.found ?? ZoneDigest() }

    /// Whether everything that was found can be mended.
    public var isMendable: Bool { findings.allSatisfy(\.kind.isMendable) }

    /// Whether nothing was found.
    public var isSound: Bool { findings.isEmpty && digests.allSatisfy { $0.kept == $0.found } }
}
