import PeerSyncModel

/// A record in a transaction that works on it.
final class WorkingRecord {
    let name: RecordName
    let zone: Int64
    /// The record as the store has it; nil when sync does not know it yet.
    let original: Original?
    var state: RecordState {
        didSet { knownChange = nil }
    }
    /// Whether the state has changed, if that is known.
    private var knownChange: Bool?
    /// The row of the record now.
    var row: Row
    /// The fields with the values that another program has written to the row, if one has.
    var writtenFields: [RecordField]?
    /// The fields with the values of the row; nil when there is no row, or its values are not certain.
    var fieldsOfRow: [RecordField]? {
        row == .found ? fieldsOfFormerRow : nil
    }
    /// The fields of the row as the transaction found it.
    private var fieldsOfFormerRow: [RecordField]? {
        guard isRowPresent else { return nil }
        return writtenFields ?? (original?.status == .inTable ? original?.stored.fieldsOfRow : nil)
    }
    /// The place of the record after the transaction.
    var placement: RecordStatus?
    /// What the transaction does with the record even if its state stays.
    var treatment = Treatment.none
    /// The fields whose column returns another value than was written to it.
    var alteredFields: Set<String> = []
    /// The references to empty in the row, because their target is out of sight.
    var emptiedFields: Set<String> = []
    /// The references that are empty in the row now.
    var emptiedInRow: Set<String> = []
    /// The peer whose state the record took over.
    var sourcePeer: Int64?
    /// The state that ``sourcePeer`` sent, to compare it with ours at the end.
    var receivedState: RecordState?

    enum Row: Equatable {
        case absent
        /// It is as the transaction found it.
        case found
        /// It is surely not as the record is shown: it has a substitute for a value that another record has taken, or the
        /// table has refused it before.
        case stale
        /// The transaction has written it as the record is shown.
        case written
        /// A constraint has refused what the record shows: the record is held in any case.
        case refused(isPresent: Bool)
    }

    enum Treatment {
        case none
        /// Sends the state to a peer once more that is behind, although it has acknowledged or sent this state.
        case sendAgain
        /// Writes row and metadata in any case: the schema has learnt the type or a field of it, or they may be wrong.
        case saveAnew
        /// Makes the record unknown to the store.
        case forget
    }

    struct Original {
        let stored: StoredRecord
        /// Whether the store may know references of the record that no row shows. A row that is gone does not tell.
        let mayHaveHeldReferences: Bool
        let sourcePeer: Int64?
        let changeSequence: Int64
        let changeGroup: Int64

        var state: RecordState { stored.state }
        var status: RecordStatus { stored.status }
        /// The references that are empty in the row, of the fields whose value there differs from the record's.
        var emptiedFields: Set<String> { stored.emptiedFields.subtracting(stored.addedFields) }
        /// The hash of the values before the transaction: those of a row that a program has changed are gone.
        var valueHash: [UInt8] { stored.metadata.valueHash }
    }

    init(name: RecordName, zone: Int64, original: Original?, state: RecordState, isRowPresent: Bool) {
        self.name = name
        self.zone = zone
        self.original = original
        self.state = state
        self.row = isRowPresent ? .found : .absent
        // A row that vanished without a trigger can carry no reference any more.
        self.placement = original?.status == .inTable && !isRowPresent ? .held : original?.status
        self.alteredFields = original?.stored.alteredFields ?? []
        self.emptiedFields = original?.emptiedFields ?? []
        self.emptiedInRow = emptiedFields
    }

    func forget() {
        state = RecordState(name: name)
        treatment = .forget
    }

    /// Whether the record's table has a row of it now.
    var isRowPresent: Bool { row != .absent && row != .refused(isPresent: false) }

    var isRefused: Bool { if case .refused = row { true } else { false } }

    /// Whether the row has to be written once more.
    var isRowOutdated: Bool {
        placement == .inTable && (row != .found && row != .written || emptiedFields != emptiedInRow)
    }

    /// Whether the set of emptied references differs from that in the row or in the store.
    var isEmptiedAnew: Bool {
        emptiedFields != emptiedInRow || emptiedFields != original?.emptiedFields ?? []
    }

    /// Notes references that a program's deletion has emptied, and that the store does not know of yet.
    func noteEmptied(_ fields: some Sequence<String>) {
        emptiedFields.formUnion(fields)
        emptiedInRow = emptiedFields
    }

    /// The state as the row shows it: without values that are out of sight, and without those that were deleted for
    /// ever.
    var shown: RecordState {
        let gone =
            state.erasure == nil ? [] : (fieldsOfFormerRow ?? []).filter { state.field($0.name) == nil }
        guard !emptiedFields.isEmpty || !gone.isEmpty else { return state }
        let fields = (state.fields + gone).map { field in
            emptiedFields.contains(field.name) || gone.contains { $0.name == field.name }
                ? RecordField(name: field.name, value: .null, stamp: field.stamp) : field
        }.sorted { $0.name < $1.name }
        // Leaves the erasure out: it would remove the fields that the row has to show as empty.
        return RecordState(name: name, sortedFields: fields, deletion: state.deletion, revival: state.revival)
    }

    var isStateChanged: Bool {
        if let knownChange { return knownChange }
        let isChanged = original.map { $0.state != state } ?? true
        knownChange = isChanged
        return isChanged
    }

    /// Whether the record gets a new number, so that the store sends it to peers.
    var isNumbered: Bool { isStateChanged || treatment == .sendAgain }
}
