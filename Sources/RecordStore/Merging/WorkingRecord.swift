import SyncModel

/// One record while a transaction works on it.
final class WorkingRecord {
    let name: RecordName
    let zone: Int64
    /// nil for a record that sync does not know yet.
    let original: Original?
    var state: RecordState
    /// Whether the record's table has a row of it now.
    var isRowPresent: Bool
    /// The fields as the row has them that another program has written, if one has.
    var writtenFields: [RecordField]?
    /// The fields as the row has them; nil when there is none, or it may have anything.
    var fieldsOfRow: [RecordField]? {
        guard isRowPresent else { return nil }
        return writtenFields ?? (original?.status == .inTable ? original?.fieldsOfRow : nil)
    }
    /// Where the record is to be, once the transaction is through.
    var placement: RecordStatus?
    /// The row was refused by a constraint of the table, so the record is held whatever else speaks for it.
    var isRefused = false
    /// Nothing is to be known of the record any more.
    private(set) var isForgotten = false
    /// The schema has learnt the type or a field of it, so the row is written whatever else happens.
    var isRelearnt = false
    /// The fields whose column gives back another value than was written to it.
    var alteredFields: Set<String> = []
    /// The references that are empty in the row, because the record that they lead to is out of sight.
    var emptiedFields: Set<String> = []
    /// Those that the row has empty now.
    var emptiedInRow: Set<String> = []
    /// The peer whose state was taken over as it is.
    var sourcePeer: Int64?
    /// The state that ``sourcePeer`` sent, to see whether ours is still the same at the end.
    var receivedState: RecordState?

    /// The peer is behind although it has acknowledged our state, or had sent it: it is told once more.
    var isAnswer = false

    struct Original {
        let state: RecordState
        let status: RecordStatus
        /// The fields as the row has them, if there is one.
        let fieldsOfRow: [RecordField]
        /// The fields of which the row has another value than the record.
        let alteredFields: Set<String>
        /// Of these, the references that the row has not.
        let emptiedFields: Set<String>
        /// Under which id the record counts in the digest; nil when it does not count.
        let countedID: RecordID?
        let sourcePeer: Int64?
        let changeSequence: Int64
        let changeGroup: Int64
    }

    init(name: RecordName, zone: Int64, original: Original?, state: RecordState, isRowPresent: Bool) {
        self.name = name
        self.zone = zone
        self.original = original
        self.state = state
        self.isRowPresent = isRowPresent
        // A row that vanished behind the triggers' back can carry no reference any more.
        self.placement = original?.status == .inTable && !isRowPresent ? .held : original?.status
        self.alteredFields = original?.alteredFields ?? []
        self.emptiedFields = original?.emptiedFields ?? []
        self.emptiedInRow = emptiedFields
    }

    /// Makes the record one that is not known.
    func forget() {
        state = RecordState(name: name)
        isForgotten = true
    }

    /// Whether the row has a reference that is to be empty, or the other way round.
    var isRowOutdated: Bool { placement == .inTable && isRowPresent && emptiedFields != emptiedInRow }

    /// Whether a reference is to be empty that is not so in the row or in what the store knows, or the other way round.
    var isEmptiedAnew: Bool {
        emptiedFields != emptiedInRow || emptiedFields != original?.emptiedFields ?? []
    }

    /// Takes in that a program's deletion has emptied references, of which the store does not know yet.
    func noteEmptied(_ fields: some Sequence<String>) {
        emptiedFields.formUnion(fields)
        emptiedInRow = emptiedFields
    }

    /// The state as the row shows it: without what is out of sight, and without what was deleted for ever.
    var shown: RecordState {
        let gone = state.erasure == nil ? [] : (fieldsOfRow ?? []).filter { state.field($0.name) == nil }
        guard !emptiedFields.isEmpty || !gone.isEmpty else { return state }
        let fields = (state.fields + gone).map { field in
            emptiedFields.contains(field.name) || gone.contains { $0.name == field.name }
                ? RecordField(name: field.name, value: .null, stamp: field.stamp) : field
        }.sorted { $0.name < $1.name }
        // The erasure would take away what is to be empty.
        return RecordState(
            name: name, sortedFields: fields, deletion: state.deletion, revival: state.revival)
    }

    var isStateChanged: Bool { original.map { $0.state != state } ?? true }

    /// Whether the record gets a new number, under which it is sent to peers.
    var isNumbered: Bool { isStateChanged || isAnswer }
}
