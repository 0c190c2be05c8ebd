import PeerSyncModel

/// What an author says at one moment (Protocol/mailbox.md section 3).
package struct Head: Sendable, Equatable {
    /// The author's clock, in milliseconds since 1970. A reader sees by it whether a session has told it something newer.
    package var time: Int64
    package var zones: [ZoneSection]
    package var household: Household?
    /// Who may open it, and what.
    package var readers: [Reader]

    /// A machine that may open a part of the head.
    package struct Reader: Sendable, Equatable {
        package let key: [UInt8]
        /// What it may do in the zones, by their places in ``Head/zones``.
        package let rights: [Int: ZoneRights]
        package let hasHousehold: Bool
    }
}

/// What a reader can open of a head.
package struct OpenedHead: Sendable, Equatable {
    package let author: Author
    package let counter: UInt64
    package let verificationKey: [UInt8]
    package let time: Int64
    /// The zones that the reader may read, with its rights there.
    package let zones: [Zone]
    package let household: Household?

    /// A zone of the head, and what the reader may do in it.
    package struct Zone: Sendable, Equatable {
        package let section: ZoneSection
        package let rights: ZoneRights
    }

    package func zone(_ id: ZoneID) -> ZoneSection? { zones.first { $0.section.zone == id }?.section }
}
