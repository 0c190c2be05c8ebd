/// How much a record may take: Protocol section 6.4.
extension RecordState {
    /// The most that a record may take to travel, in bytes as ``size`` counts them. With the 6 MiB that a batch may have
    /// before it, it fits into a message.
    package static let maximumSize = 8 << 20
    /// The most that a record may come to by merging, in bytes as ``size`` counts them: it bounds what peers can make of
    /// one record, each of whose states is small enough.
    package static let maximumMergedSize = 16 << 20

    /// The most bytes that the state may take in a batch: with names that nothing else in the batch shares, and a stamp of
    /// its own for each field.
    package var size: Int {
        fields.reduce(400) { $0 + $1.value.size + $1.name.utf8.count + 24 }
    }

    /// Whether the state is too large to travel. A deleted one travels without its fields.
    package var isTooLarge: Bool { size > Self.maximumSize && !isDeleted }
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
