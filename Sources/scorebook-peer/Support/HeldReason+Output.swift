import PeerSync

extension HeldReason {
    /// The words after “waits for”: the name of a missing record, or a sentence.
    var text: String {
        switch self {
        case .unknownType(let type): "a version that knows the type \(type)"
        case .record(let name): name.description
        case .values(let columns, let holder):
            "\(holder?.description ?? "another row"), which was first with the same \(columns.joined(separator: ", "))"
        case .key: "a table whose keys have such names"
        case .row(let column): "the row to which its column \(column) refers"
        case .fields: "fields that its table accepts"
        }
    }
}
