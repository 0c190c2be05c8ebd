/// The limits of a record's size: Protocol section 6.4.
extension RecordState {
    /// The greatest ``size`` in bytes of a record that travels. With the 6 MiB that a batch may have before it, it
    /// fits into a message.
    package static let maximumSize = 8 << 20
    /// The greatest ``size`` in bytes of a record after merging. It bounds the record that peers can build from states
    /// that are each small enough.
    package static let maximumMergedSize = 16 << 20

    /// The greatest number of bytes that the state may take in a batch. It assumes that the batch shares none of its
    /// names, and that each field has a stamp of its own.
    package var size: Int {
        fields.reduce(400) { $0 + $1.value.size + $1.name.utf8.count + 24 }
    }

    /// Whether the state is too large to travel: it takes too many bytes, or has more fields than a message may have. Somebody may have
    /// written a field here into a record that had as many as can be. A deleted record travels without its fields.
    package var isTooLarge: Bool {
        !isDeleted && (fields.count > Self.maximumFieldCount || size > Self.maximumSize)
    }
}

extension FieldValue {
    fileprivate var size: Int {
        switch self {
        case .null: 1
        case .integer, .real, .date: 9
        case .text(let text): text.utf8.count + 9
        case .blob(let bytes): bytes.count + 9
        case .reference(let name): name.description.utf8.count + 8
        case .asset(let asset): asset.mediaType.utf8.count + asset.name.utf8.count + 56
        }
    }
}
