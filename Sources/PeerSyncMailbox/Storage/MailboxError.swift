/// The reason why a storage did not do what a mailbox asked for, or why a mailbox cannot be used.
///
/// The message is one sentence about what is wrong. The app knows by the code what people can do about it.
public struct MailboxError: Error, Sendable, CustomStringConvertible {
    /// A stable name of the kind of error; later versions may add more.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        public let description: String

        /// The storage cannot be reached now: no network, a server that fails, a folder that is not there.
        public static let unreachable = Code(description: "unreachable")
        /// The storage refuses the name, the password or the key.
        public static let credentials = Code(description: "credentials")
        /// The user of this program may not read a folder.
        public static let noAccess = Code(description: "noAccess")
        /// Nobody whom this machine trusts vouches for the server's certificate.
        public static let notTrusted = Code(description: "notTrusted")
        /// The storage has no room.
        public static let full = Code(description: "full")
        /// This machine may read there, and not write.
        public static let readOnly = Code(description: "readOnly")
        /// This machine's clock and the server's differ by so much that the server refuses signatures; or a machine has left something that its
        /// clock says is of the future.
        public static let clockSkew = Code(description: "clockSkew")
        /// What the storage answers, or what is in it, is not what it should be; or a setting of it is wrong.
        public static let invalid = Code(description: "invalid")
        /// One object there, or one answer of the storage, cannot be read: it is larger than any that belongs there, or this machine may not read it,
        /// although it may read others. An object is damaged then.
        public static let unreadable = Code(description: "unreadable")
        /// The storage was written to before and is empty now: another folder or bucket, a disk that is not mounted, or somebody emptied it.
        public static let emptied = Code(description: "emptied")
        /// Another machine writes there with the identity of this one, or this store came back from backups again and again: nobody can
        /// tell the two apart.
        public static let sameIdentity = Code(description: "sameIdentity")
        /// Another program uses the mailbox with the same store at this moment.
        public static let busy = Code(description: "busy")
        /// Something that a machine has put has not come yet: it is still on its way, or the storage has lost it.
        public static let waiting = Code(description: "waiting")
        /// A machine that has left something for this one before lets it read nothing any more.
        public static let notShared = Code(description: "notShared")
        /// What a machine had put is gone: the storage has gone back in time, or has lost it.
        public static let wentBack = Code(description: "wentBack")
        /// A machine was away for so long that deletions are forgotten that it has not seen; it has to start over in a session.
        public static let away = Code(description: "away")
        /// Anything else.
        public static let other = Code(description: "other")
    }

    /// The kind of error.
    public let code: Code
    /// One sentence for people, without a full stop.
    public let message: String
    /// The error of the system or of a library that caused this one.
    public let underlying: (any Error)?

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: the kind of error.
    ///   - message: one sentence for people, without a full stop. It holds no credentials.
    ///   - underlying: what caused it.
    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    public var description: String { message }

    /// Whether trying again later may help without anybody doing anything.
    public var isTransient: Bool {
        switch code {
        case .unreachable, .full, .clockSkew, .busy, .waiting, .wentBack, .other: true
        case .credentials, .noAccess, .notTrusted, .readOnly, .invalid, .unreadable, .emptied, .sameIdentity,
            .notShared, .away:
            false
        // ErrorCodeTests find no other.
        default: false
        }
    }
}
