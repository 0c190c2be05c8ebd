import PeerSyncModel

/// What somebody has observed of a machine, its store and its peers: all that ``Diagnosis`` looks at.
///
/// Nothing here is judged. So each judgement can be tested without a machine that has the trouble.
public struct DiagnosticFacts: Sendable, Equatable {
    /// The clock of this machine, in milliseconds since 1970.
    public var now: Int64
    /// The store.
    public var store: StoreFacts
    /// This machine on the network; nil when nobody has looked.
    public var network: NetworkFacts?
    /// The machines that the question is about.
    public var peers: [PeerFacts]
    /// The mailboxes of the store.
    public var mailboxes: [MailboxFacts]

    /// Makes facts; see the properties.
    public init(
        now: Int64, store: StoreFacts, network: NetworkFacts?, peers: [PeerFacts] = [],
        mailboxes: [MailboxFacts] = []
    ) {
        self.now = now
        self.store = store
        self.network = network
        self.peers = peers
        self.mailboxes = mailboxes
    }
}
