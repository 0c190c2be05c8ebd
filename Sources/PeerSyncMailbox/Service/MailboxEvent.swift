import PeerSyncModel
import PeerSyncStore

/// An event in a mailbox that a person may want to see. Machines go by their names here.
public enum MailboxEvent: Sendable {
    /// Records of a machine came through the mailbox and changed the tables; the name of the zone is nil for the default one.
    case changed(machine: String, zone: String?, ArrivedChanges)
    /// This machine refused some of a machine's records.
    case refusedRecords(machine: String, [RecordName], RefusedRecord.Reason)
    /// A machine refused some of this machine's records, as its head tells. Told once for each record.
    case peerRefusedRecords(machine: String, [RecordName], RefusedRecord.Reason)
    /// Changes of a machine that would take away much of a zone wait for a person: ``/PeerSyncStore/StoreFuse``. The name of the zone is nil
    /// for the default one.
    case withheld(machine: String, zone: String?, count: Int)
    /// Files of a machine came through the mailbox.
    case filesReceived(machine: String, count: Int)
    /// Files that a machine has put wait, because they find no place here, for this reason; everything else goes on. Told once for each reason.
    case filesWait(machine: String, RecordStoreError)
    /// A machine is a peer from now on, because another one has introduced it.
    case introduced(machine: String, by: String?)
    /// A machine is a peer no more, because another one has removed it from the household.
    case removed(machine: String, by: String?)
    /// A machine lets this one do nothing in a zone any more, as its new head tells; the name of the zone is nil for the default one. Nothing is
    /// deleted here.
    case zoneEnded(machine: String, zone: String?)
    /// What a machine has put cannot be read on, for this reason. Nothing is taken back, and others go on. Told once for each reason. The
    /// name is nil for heads of a later version of which nobody can tell whose they are: a mailbox that runs tells that once.
    case stopped(machine: String?, MailboxError)
    /// The storage has gone back in time: something is gone that a machine had put.
    case wentBack(machine: String)
    /// Everything is gone that a machine had put: it has removed that, or the storage has gone back in time.
    case gone(machine: String)
    /// The storage has lost what this machine had put; it puts everything anew.
    case ownObjectsLost
    /// The mailbox has something from this machine that this store never put: the store was restored from a backup. Everything is put anew.
    case restored
    /// Everything that was there is read, and everything that this machine has is there.
    case inStep(MailboxReport)
    /// The mailbox cannot be used now; the engine tries again. Told once for each reason.
    case failed(MailboxError)
    /// The mailbox can be used again.
    case recovered
}

/// What one pass over a mailbox did.
public struct MailboxReport: Sendable, Equatable {
    /// The segments of other machines that were read.
    public internal(set) var segmentsRead = 0
    /// The segments that were put.
    public internal(set) var segmentsPut = 0
    /// The files that came.
    public internal(set) var filesRead = 0
    /// The files that were put.
    public internal(set) var filesPut = 0
    /// Whether a new head was put.
    public internal(set) var hasPutHead = false
    /// The records that other machines changed in the tables.
    public internal(set) var changes = ArrivedChanges()
    /// Until when changes wait that their own authors may write, in milliseconds since 1970; nil if none do.
    var waitsUntil: Int64?

    /// Makes the report of a pass that did nothing.
    public init() {}
}
