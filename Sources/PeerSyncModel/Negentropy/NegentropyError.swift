/// Reasons why a reconciliation, or the sealing of its items, cannot go on. Each description is one sentence.
package enum NegentropyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The message ends early, or announces more than it holds.
    case truncated
    /// A number has leading zeros, or more than 64 bits.
    case malformedNumber
    /// The first byte belongs to no version of the protocol.
    case notNegentropy(UInt8)
    /// The other side cannot speak version 1, and asks for the version with this byte.
    case unsupportedVersion(UInt8)
    /// A bound has more bytes than an id.
    case prefixTooLong(UInt64)
    /// A bound has a timestamp of 2^64 - 1 or more without being infinity.
    case timestampTooGreat
    /// A bound is less than the bound before it.
    case descendingBounds
    /// A range has a mode other than skip, fingerprint and id list.
    case unknownMode(UInt64)
    /// The reconciliation has ended, well or not, and takes no more messages.
    case ended
    /// The other side does not finish within that many rounds.
    case tooManyRounds(Int)
    /// The other side claims to have more than that many items that this side lacks.
    case tooManyNeeded(Int)
    /// An item of this side occurs twice.
    case duplicateItem
    /// An item of this side has the timestamp 2^64 - 1, which stands for infinity.
    case reservedTimestamp
    /// The storage cannot read the items of this side.
    case unreadable

    package var description: String {
        switch self {
        case .truncated: "the Negentropy message ends before what it announces"
        case .malformedNumber: "the Negentropy message holds a number with leading zeros or more than 64 bits"
        case .notNegentropy(let byte): "a Negentropy message cannot begin with the byte \(byte)"
        case .unsupportedVersion(let byte):
            "the other side asks for version \(Int(byte) - 0x60) of Negentropy; this one speaks version 1"
        case .prefixTooLong(let length):
            "a bound in the Negentropy message has \(length) of 32 bytes of an id"
        case .timestampTooGreat: "a timestamp in the Negentropy message exceeds 64 bits"
        case .descendingBounds: "the ranges of the Negentropy message are not in ascending order"
        case .unknownMode(let mode): "a range in the Negentropy message has the unknown mode \(mode)"
        case .ended: "the reconciliation has ended already"
        case .tooManyRounds(let limit): "the reconciliation did not end within \(limit) rounds"
        case .tooManyNeeded(let limit): "the other side claims more than \(limit) items that are missing here"
        case .duplicateItem: "an item to reconcile occurs twice"
        case .reservedTimestamp: "an item to reconcile has the timestamp that stands for infinity"
        case .unreadable: "the items to reconcile cannot be read"
        }
    }
}
