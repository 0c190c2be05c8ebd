/// Bounds of what a mailbox holds (Protocol/mailbox.md section 11).
public enum MailboxLimits {
    /// The most bytes of an object: a batch of the longest message, padded and sealed.
    public static let objectSize = 18 << 20

    /// The bound of the counters of heads. With a greater one anybody who writes there could bring an author to the end of all numbers.
    static let counter: UInt64 = 1 << 62
    /// The most authors whose heads a machine reads.
    static let authors = 1000
    /// The most slots of a head.
    package static let slots = 1024
    /// The most bytes of a slot.
    package static let slot = 65_536
    /// The most bytes of a section of a head.
    package static let section = 4 << 20
    /// The most segments of a log.
    package static let segments = 4096
    /// The most generations that a head names.
    package static let generations = 1000
    /// The most readers, and the most authors, that a head names for a zone.
    package static let machines = 1000
    /// The most files that a head offers, or wants, in a zone.
    package static let files = 4096
    /// The most keys of files that a head names for a zone.
    package static let fileKeys = 16
    /// The most records of one author that a head names as refused in a zone.
    package static let refused = 64
    /// The most records that a writer names as refused in a zone, of all authors together.
    package static let refusedInAll = 4096
    /// The bound of the number of further ones.
    static let furtherRefused = 1 << 30
    /// The most damaged objects that a head names in a zone.
    package static let damaged = 64
}
