extension Finding {
    /// A stable name of the kind of finding; more may be added.
    public enum Code: String, Sendable, CaseIterable {
        // MARK: The store

        /// There is no store; the subject is its directory.
        case noStore
        /// The subject, a file or directory, cannot be read.
        case unreadable
        /// The subject, a file or directory, cannot be written.
        case unwritable
        /// The disk of the subject can only be read.
        case readOnlyDisk
        /// The disk of the subject has no room; the number is that of bytes left.
        case diskFull
        /// The disk of the subject has little room; the number is that of bytes left.
        case diskAlmostFull
        /// The file of the key has gone; the subject is its path.
        case noKey
        /// The file of the key cannot be used, as the error says; the subject is its path.
        case keyUnusable
        /// The database is damaged; the subject is its path.
        case damaged
        /// A newer version of the app wrote the store; the subject is its path.
        case newerStore
        /// The store cannot be opened for another reason; the subject is its path.
        case storeUnusable
        /// Sync's data and the tables do not agree; the number is that of records.
        case unsound
        /// Everything in the store agrees; the number is that of live records.
        case sound
        /// Sync is switched off here.
        case switchedOff
        /// The clock of this machine says a time before this program was made; the number is that time, in
        /// milliseconds since 1970.
        case clockUnset
        /// All other machines that answer agree that the clock of this one is wrong; the number is how far it is ahead of
        /// theirs, in milliseconds, and negative when it is behind.
        case clockWrong
        /// The store has writes of the future; the number says how far, in milliseconds.
        case writesInFuture
        /// Records wait for others; the number is that of records.
        case held
        /// A machine has refused records of this one; the number is that of records, the subject their zone.
        case refused
        /// Rows stay on this machine; the number is that of rows.
        case unsynced

        // MARK: This machine on the network

        /// No network has given this machine an address.
        case noNetwork
        /// Nothing listens here; the number is the port.
        case notListening
        /// A program listens for this store; the subject is the address.
        case listening
        /// A program listens for this store where only this machine can reach it; the subject is the address.
        case listeningToItself
        /// Another program, or one for another store, has the port; the number is the port.
        case portTaken
        /// A firewall of this machine, the subject, lets nobody reach the port, the number.
        case firewallBlocks
        /// A firewall of this machine, the subject, probably lets nobody reach the port, the number.
        case firewallMayBlock
        /// The service that announces machines does not run, or does not answer; the subject is its name.
        case noDiscovery

        // MARK: Mailboxes

        /// The mailbox, the subject, can be used.
        case mailboxInStep
        /// Nothing has synced with the mailbox, the subject, yet.
        case mailboxUnused
        /// The mailbox, the subject, could not be used the last time, for the reason.
        case mailboxFailed
        /// What the peer has left in the mailbox, the subject, cannot be read on, for the reason.
        case mailboxUnreadable

        // MARK: Another machine

        /// No machine is paired.
        case noPeers
        /// The peer is not found, this machine has never reached it, and knows no address.
        case noAddress
        /// No machine of that name is known; the subject is the address.
        case unknownName
        /// The machine at the address, the subject, answers that nothing listens, or its firewall does.
        case connectionRefused
        /// Nothing answered at the address, the subject.
        case noAnswer
        /// There is no way to the address, the subject.
        case noWay
        /// No machine of this network has the address, the subject.
        case nobodyThere
        /// No machine of this wireless network has the address, the subject, or the network keeps its machines apart.
        case nobodyThereOrKeptApart
        /// This machine itself forbids connections to the address, the subject.
        case forbiddenHere
        /// Something that is no peer listens at the address, the subject; the error says more.
        case strangerListens
        /// A machine whose version does not fit this one's listens at the address, the subject.
        case incompatible
        /// The machine at the address, the subject, closed the connection or was silent; the error says which.
        case cutOff
        /// The address, the subject, leads to this machine itself.
        case thisMachine
        /// Another machine than the peer has the address, the subject, now.
        case wrongMachine
        /// The machine at the address, the subject, is not paired with this one.
        case notPaired
        /// The peer has ended the pairing.
        case notPairedThere
        /// The household has removed this machine, as the peer says.
        case removedThere
        /// The peer answers at the address, the subject.
        case answers
        /// The peer's clock differs, and nothing tells which of the two is wrong; the number is how far it is ahead of this one's, in milliseconds.
        case clocksDiffer
        /// The two machines share no zone.
        case noCommonZone
        /// The two machines have different default zones, and somebody has to say what becomes of them.
        case differentZones
        /// Sync was switched off on the peer when the two last met.
        case peerSwitchedOff
        /// The last session with the peer ended with the error.
        case lastError
        /// The peer was not in sync for long; the number is that of days.
        case longAway
    }
}
