import PeerSyncModel

/// What an author says of one zone in a head: how far its log goes, what it has read of others, and its files.
package struct ZoneSection: Sendable, Equatable {
    package var zone: ZoneID
    package var history: HistoryID
    package var log: LogID
    package var logKey: [UInt8]
    /// Whether every reader reads this log from its first segment on.
    package var isWhole: Bool
    /// How many segments make up the whole copy; 0 while it is not finished.
    package var base: Int
    package var segments: Int
    /// The sequences of the tokens of the segments from the last of the base on.
    package var ends: [Int64]
    package var covered: ChangeToken
    package var generations: [Generation]
    /// The greatest number of a record that the author has forgotten.
    package var forgotten: Int64
    package var digest: ZoneDigest
    /// All that have the section.
    package var readers: [ReplicaID]
    package var read: [Read]
    package var fileKeys: [FileKey]
    package var offered: [OfferedFile]
    package var wanted: [AssetHash]
    /// Whether the author wants more files than it names.
    package var wantsMore: Bool
    /// What the author has refused of others; nil where it does not say.
    package var refused: [Refused]?
    /// What the author found damaged of others; empty where it does not say. Who says nothing of ``refused`` cannot say it.
    package var damaged: [Damaged] = []

    /// A run of the author's program that numbered changes.
    package struct Generation: Sendable, Equatable {
        package let id: [UInt8]
        package let first: Int64
    }

    /// What the author has of another one, whose records it takes.
    package struct Read: Sendable, Equatable {
        package let replica: ReplicaID
        package let history: HistoryID
        package let log: LogID
        package let segment: Int
        package let token: ChangeToken?
    }

    /// What the author has refused of another one.
    package struct Refused: Sendable, Equatable {
        package let replica: ReplicaID
        package let records: [Entry]
        /// How many more there are.
        package let further: Int

        package struct Entry: Sendable, Equatable {
            package let name: RecordName
            /// As in a refuse (Protocol/protocol.md section 7.12).
            package let reason: Int
        }
    }

    /// An object of another one that the author could not open.
    package struct Damaged: Sendable, Equatable {
        package let replica: ReplicaID
        package let object: ObjectID
    }

    package struct FileKey: Sendable, Equatable {
        package let epoch: FileEpoch
        package let key: [UInt8]
    }

    package struct OfferedFile: Sendable, Equatable {
        package let hash: AssetHash
        package let size: Int64
        /// Its key's place in ``ZoneSection/fileKeys``.
        package let key: Int
    }

    /// Whether the log can be read to its end.
    package var isComplete: Bool { base > 0 }

    /// Whether a token belongs to the history of this head.
    package func hasGivenOut(_ token: ChangeToken) -> Bool {
        guard token.sequence > 0 else { return true }
        return generations.last { $0.first <= token.sequence }?.id == token.generation
    }

    /// Whether a token is none of the author's, although its number is one that the log covers and ``generations`` tell of.
    package func disowns(_ token: ChangeToken) -> Bool {
        guard isComplete, let first = generations.first?.first, token.sequence >= first,
            token.sequence <= covered.sequence
        else { return false }
        return !hasGivenOut(token)
    }

    /// Whether who has `holder` has all that `token` covers (Protocol/mailbox.md section 6.1).
    package func isCovered(_ token: ChangeToken, by holder: ChangeToken) -> Bool {
        token.sequence == 0
            || (hasGivenOut(token) && hasGivenOut(holder) && token.sequence <= holder.sequence)
    }

    /// The last segment whose end a received token covers; nil if it does not cover the base.
    package func lastSegment(coveredBy token: ChangeToken) -> Int? {
        guard isComplete, hasGivenOut(token),
            let index = ends.lastIndex(where: { $0 <= token.sequence })
        else { return nil }
        return base + index
    }
}
