/// The mailboxes of this machine, for the page. The program that serves it keeps them.
public protocol PageMailboxes: Sendable {
    /// Whether the program reaches servers. Otherwise mailboxes lie in folders only.
    var hasServers: Bool { get }

    /// Reads them, in the order in which somebody added them.
    func all() async throws -> [PageMailbox]
    /// Adds a mailbox, and syncs with it once. Throws if it cannot be used; then it is not added.
    func add(_ place: PageMailboxPlace) async throws
    /// Syncs with a mailbox once.
    func sync(_ name: String) async throws
    /// Reads everything in a mailbox.
    func check(_ name: String) async throws -> PageMailboxCheck
    /// Uses a mailbox no more. What lies there stays.
    func remove(_ name: String) async throws
    /// Says in a sentence without a full stop what one of these throws.
    func explain(_ error: any Error) -> String
}

/// A mailbox, in words.
public struct PageMailbox: Sendable {
    /// A machine that was heard of through it.
    public struct Machine: Sendable {
        let name: String
        let lastHeard: String
        let problem: String?

        /// Makes a value of its parts.
        ///
        /// - Parameters:
        ///   - name: what this machine calls the other one.
        ///   - lastHeard: when it was last heard of, in ISO 8601.
        ///   - problem: why what it left cannot be read on, without a full stop; nil if it can.
        public init(name: String, lastHeard: String, problem: String?) {
            self.name = name
            self.lastHeard = lastHeard
            self.problem = problem
        }
    }

    let name: String
    let place: String
    let lastSync: String?
    let trouble: String?
    let machines: [Machine]

    /// Makes a value of its parts.
    ///
    /// - Parameters:
    ///   - name: what this machine calls it.
    ///   - place: where it lies, for people.
    ///   - lastSync: when this machine was last in step with it, in ISO 8601; nil for never.
    ///   - trouble: a sentence without a full stop that says why it cannot be used, and what helps; nil if it can.
    ///   - machines: the others that were heard of through it.
    public init(name: String, place: String, lastSync: String?, trouble: String?, machines: [Machine]) {
        self.name = name
        self.place = place
        self.lastSync = lastSync
        self.trouble = trouble
        self.machines = machines
    }
}

/// Where somebody wants a mailbox, as typed.
public enum PageMailboxPlace: Sendable {
    /// A folder of this machine.
    case folder(path: String)
    /// A folder of a WebDAV server.
    case webdav(address: String, PageMailboxSecrets)
    /// A bucket of a server that speaks the S3 API. The region is empty where the server has none.
    case s3(bucket: String, endpoint: String, region: String, PageMailboxSecrets)
}

/// What a server asks for, as typed.
public struct PageMailboxSecrets: Sendable {
    /// The name of the user, or the access key.
    public let user: String
    /// The password, or the secret key.
    public let secret: String
    /// A certificate as PEM to trust there as well; nil for none.
    public let certificate: String?
}

/// What a check of a mailbox found.
public struct PageMailboxCheck: Sendable {
    let fault: String?
    let lines: [String]

    /// Makes a value of its parts.
    ///
    /// - Parameters:
    ///   - fault: the verdict if something is wrong, and what helps, without a full stop; nil if a new machine could be made from it.
    ///   - lines: what a new machine would have, and what is wrong; sentences without a full stop.
    public init(fault: String?, lines: [String]) {
        self.fault = fault
        self.lines = lines
    }
}

extension [PageMailbox] {
    /// When each machine was last heard of through any of them, by its name.
    var lastHeard: [String: String] {
        Dictionary(flatMap(\.machines).map { ($0.name, $0.lastHeard) }) { Swift.max($0, $1) }
    }
}
