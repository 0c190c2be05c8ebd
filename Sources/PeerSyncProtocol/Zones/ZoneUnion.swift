/// The union of the default zones of two stores.
public enum ZoneUnion: UInt8, Sendable, Hashable {
    /// Both stay as they are: they are the same already, or each side keeps its own.
    case none = 0
    /// Both become one zone that has the records of both.
    case merge = 1
    /// The caller takes up the listener's zone beside its own, and does not share its own.
    case beside = 2
    /// The caller gives up its records and takes those of the listener.
    case replaceCaller = 3
    /// The listener gives up its records and takes those of the caller.
    case replaceListener = 4
}
