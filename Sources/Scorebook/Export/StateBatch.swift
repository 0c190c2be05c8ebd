import PeerSync

/// The records that a file of another program becomes, by name. If the file has an object twice, or also as deleted, `add` merges the
/// states.
struct StateBatch {
    private var byName: [RecordName: RecordState] = [:]

    /// The states so far, sorted by name.
    var states: [RecordState] { byName.values.sorted { $0.name < $1.name } }

    mutating func add(_ state: RecordState) {
        if byName[state.name]?.merge(state) == nil { byName[state.name] = state }
    }
}
