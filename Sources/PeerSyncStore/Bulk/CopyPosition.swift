import PeerSyncModel

/// The progress of a ``WholeCopy``, as its tokens encode it. Only this store understands them.
///
/// The sequence of such a token is the one at which the copy began. Its generation holds, in this order: the generation
/// of that sequence; 4 bytes of a hash over the types in the order of the copy and the type of the last record; the first bytes of
/// the last record's suffix, at most 20. When the copy goes on in another session, the store sends names again that
/// share these bytes.
struct CopyPosition {
    private static let hashLength = 4
    private static let suffixLength = 20

    /// The token of the moment when the copy began, and of the batch that ends it.
    let end: ChangeToken
    private let hash: [UInt8]
    private let suffix: [UInt8]

    /// The beginning of a copy.
    init(beginningAt base: ChangeToken) {
        end = base
        hash = []
        suffix = []
    }

    /// - Returns: nil for a token of another kind.
    init?(_ token: ChangeToken) {
        let length = ChangeToken.generationLength
        guard token.sequence > 0, token.generation.count >= length + Self.hashLength else { return nil }
        end = ChangeToken(generation: Array(token.generation.prefix(length)), sequence: token.sequence)
        hash = Array(token.generation.dropFirst(length).prefix(Self.hashLength))
        suffix = Array(token.generation.dropFirst(length + Self.hashLength))
    }

    /// The token of a batch that ends with a record.
    ///
    /// - Parameter types: all types in the order of the copy.
    func token(at last: RecordName, in types: [String]) -> ChangeToken {
        ChangeToken(
            generation: end.generation + Self.hash(last.recordType, in: types)
                + Array(last.suffix.utf8.prefix(Self.suffixLength)),
            sequence: end.sequence)
    }

    /// The type of the last record, and a name that is at most that record's name.
    ///
    /// - Parameter types: all types in the order in which the copy would go on.
    /// - Returns: nil at the beginning, and when there are others, or in another order, than at the last batch.
    func start(in types: [String]) -> (type: String, lower: String)? {
        guard !hash.isEmpty, let type = types.first(where: { Self.hash($0, in: types) == hash }) else {
            return nil
        }
        return (type, type + RecordName.separator + String(decoding: suffix, as: UTF8.self))
    }

    private static func hash(_ type: String, in types: [String]) -> [UInt8] {
        let order = types.joined(separator: " ") + "/" + type
        return Array(BLAKE2b.hash(Array(order.utf8), length: 16).prefix(hashLength))
    }
}
