/// The mailboxes of this machine, for the page. The program that serves it keeps them.
public struct PageMailboxes: Sendable {
    /// A mailbox, in words.
    public struct Mailbox: Sendable {
        let name: String
        let place: String
        let lastSync: String?
        let trouble: String?

        /// Makes a value of its parts.
        ///
        /// - Parameters:
        ///   - name: what this machine calls it.
        ///   - place: where it lies, for people.
        ///   - lastSync: when this machine was last in step with it, in ISO 8601; nil for never.
        ///   - trouble: a sentence without a full stop that says why it cannot be used, and what helps; nil if it can.
        public init(name: String, place: String, lastSync: String?, trouble: String?) {
            self.name = name
            self.place = place
            self.lastSync = lastSync
            self.trouble = trouble
        }
    }

    let all: @Sendable () async throws -> (mailboxes: [Mailbox], lastHeard: [String: String])
    let addFolder: @Sendable (String) async throws -> Void
    let explain: @Sendable (any Error) -> String

    /// Makes a value of its parts.
    ///
    /// - Parameters:
    ///   - all: reads them, in the order in which somebody added them, and when each machine was last heard of through them, by its
    ///     name, in ISO 8601.
    ///   - addFolder: adds a mailbox in the folder of a path, and throws if it cannot be used.
    ///   - explain: a sentence without a full stop about what `addFolder` throws.
    public init(
        all: @escaping @Sendable () async throws -> (mailboxes: [Mailbox], lastHeard: [String: String]),
        addFolder: @escaping @Sendable (String) async throws -> Void,
        explain: @escaping @Sendable (any Error) -> String
    ) {
        self.all = all
        self.addFolder = addFolder
        self.explain = explain
    }

    /// No mailboxes, and no way to add one.
    static let none = PageMailboxes(all: { ([], [:]) }, addFolder: { _ in }, explain: { "\($0)" })
}
