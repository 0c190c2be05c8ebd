/// Storage that a household has, where machines leave sealed objects for each other: a folder, a WebDAV server, a bucket.
///
/// An app may implement it for whatever keeps files under names. The mailbox asks for little:
/// - An object comes whole or not at all. Others may see it late, and lists may lag behind.
/// - Each name has one writer. The mailbox never changes an object that it put under a name: a second `put` of a name brings bytes that mean
///   the same, because the first may have failed without anybody knowing.
/// - Objects that the mailbox did not put may lie beside its own. A list leaves out what has no ``MailboxObjectName``.
///
/// The four methods may be called at the same time. They throw only ``MailboxError``, and `CancellationError` when their task is cancelled.
public protocol MailboxStorage: Sendable {
    /// Stores an object, durably where the storage can promise that.
    ///
    /// - Parameters:
    ///   - name: where; its folder comes into being when it is not there.
    ///   - bytes: at most ``MailboxLimits/objectSize`` bytes, never none.
    func put(_ name: MailboxObjectName, _ bytes: [UInt8]) async throws

    /// Reads an object.
    ///
    /// - Returns: nil when there is none of that name, or it has not come yet.
    /// - Throws: ``MailboxError``: `unreadable` when the object is larger than ``MailboxLimits/objectSize``, or this machine may
    ///   not read it, although it may read others, or something else is in its folder's place; it is damaged then.
    func get(_ name: MailboxObjectName) async throws -> [UInt8]?

    /// Lists the objects in a folder, all of them, in any order. There are no folders in folders.
    ///
    /// - Returns: nothing when the folder is not there.
    func list(_ folder: MailboxFolder) async throws -> [MailboxObject]

    /// Removes an object. It is no error when there is none.
    func delete(_ name: MailboxObjectName) async throws
}

/// Storage that can tell by itself that something may have changed.
public protocol WatchedMailboxStorage: MailboxStorage {
    /// An element after changes by anybody, also by this machine; changes that nobody has awaited yet share one. Nil when the system gives no
    /// watch, as of a folder that is not there; the stream ends when the watched place has gone. The mailbox asks regularly all the same, and while the
    /// storage cannot be used at least once a minute, because it lies on this machine.
    ///
    /// When its task is cancelled, this returns soon.
    func changes() async -> AsyncStream<Void>?
}

/// An object in a list.
public struct MailboxObject: Sendable, Hashable {
    /// Its name.
    public let name: MailboxObjectName
    /// The number of its bytes.
    public let size: Int64

    /// Makes an element of a list.
    public init(name: MailboxObjectName, size: Int64) {
        self.name = name
        self.size = size
    }
}
