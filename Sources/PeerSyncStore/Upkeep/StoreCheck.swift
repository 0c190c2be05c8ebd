import Foundation
import GRDB
import PeerSyncModel

/// The result of a check of every record of a store.
public struct StoreCheck: Sendable, Equatable {
    /// A record whose row, metadata and places in the store's lists do not agree.
    public struct Finding: Sendable, Hashable {
        /// What is wrong.
        public enum Kind: String, Sendable, Encodable {
            /// The table has a row that sync does not know: somebody wrote it without the triggers, or its metadata is
            /// lost.
            case unknownRow
            /// The row has other values than sync last knew: somebody changed it without the triggers.
            case changedRow
            /// Sync knows a row that is gone: somebody deleted it without the triggers.
            case missingRow
            /// Sync cannot use the row's name; only a new name mends it.
            case invalidName
            /// Sync cannot read the metadata of the record.
            case damagedMetadata
            /// The store's lists of references and files disagree with the record.
            case wrongIndex
            /// The record takes more than ``RecordStore/maximumRecordSize``; it stays here until it is smaller.
            case tooLarge

            /// Whether ``StoreUpkeep/repair(_:progress:)`` mends it. Only the writer of a record can change its name or make it
            /// smaller.
            public var isMendable: Bool { ![.invalidName, .tooLarge].contains(self) }
        }

        /// The record's name, or what the row has in its place.
        public let name: String
        /// What is wrong with it.
        public let kind: Kind
    }

    /// The digest that the store keeps for a zone, and the digest of the zone's records.
    public struct Digests: Sendable, Equatable {
        /// The name of the zone on this machine.
        public let zone: String
        /// The digest that the store keeps.
        public let kept: ZoneDigest
        /// The digest of the zone's records, computed anew.
        public let found: ZoneDigest
    }

    /// The findings by record name.
    public let findings: [Finding]
    /// The digests of all zones, the default zone first.
    public let digests: [Digests]

    /// The digest that the store keeps for the default zone.
    public var keptDigest: ZoneDigest { digests.first?.kept ?? ZoneDigest() }
    /// The digest of the records of the default zone, computed anew.
    public var foundDigest: ZoneDigest { digests.first?.found ?? ZoneDigest() }

    /// Whether a repair mends all findings.
    public var isMendable: Bool { findings.allSatisfy(\.kind.isMendable) }

    /// Whether the check has found no fault.
    public var isSound: Bool { findings.isEmpty && areDigestsEqual }

    var areDigestsEqual: Bool { digests.allSatisfy { $0.kept == $0.found } }
}
