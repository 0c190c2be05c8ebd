import SyncModel

/// How far a ``WholeCopy`` has come, as its tokens say it. Only this store understands them.
///
/// The sequence is that at which the copy began. What other tokens have as the generation is here, in order: the
/// generation of that number; 4 bytes of a hash over the order of the types and the type of the last record; and the
/// first bytes of its suffix, 20 at most. Names that have more in common are sent again when the copy goes on in another
/// session.
struct CopyPosition {
    private static let hashLength = 4
    private static let suffixLength = 20

    /// The token of the moment when the copy began.
    private let base: ChangeToken
    private let hash: [UInt8]
    private let suffix: [UInt8]

    /// The beginning of a copy.
    init(beginningAt base: ChangeToken) {
        self.base = base
        hash = []
        suffix = []
    }

    /// - Returns: nil for a token of another kind.
    init?(_ token: ChangeToken) {
        let length = ChangeToken.generationLength
        guard token.sequence > 0, token.generation.count >= length + Self.hashLength else { return nil }
        base = ChangeToken(generation: Array(token.generation.prefix(length)), sequence: token.sequence)
        hash = Array(token.generation.dropFirst(length).prefix(Self.hashLength))
        suffix = Array(token.generation.dropFirst(length + Self.hashLength))
    }

    /// The token of the batch that ends the copy: everything up to its beginning is covered.
    var end: ChangeToken { base }

    /// The token of a batch that ends with a record.
    func token(at last: RecordName, _ schema: RecordSchema) -> ChangeToken {
        ChangeToken(
            generation: base.generation + Self.hash(last.recordType, schema)
                + Array(last.suffix.utf8.prefix(Self.suffixLength)),
            sequence: base.sequence)
    }

    /// The type of the last record, and a name at or below its.
    ///
    /// - Returns: nil at the beginning, and for an order of types that is not the one of the copy.
    func start(in types: [String], _ schema: RecordSchema) -> (type: String, lower: String)? {
        guard !hash.isEmpty, let type = types.first(where: { Self.hash($0, schema) == hash }) else {
            return nil
        }
        return (type, type + RecordName.separator + String(decoding: suffix, as: UTF8.self))
    }

    private static func hash(_ type: String, _ schema: RecordSchema) -> [UInt8] {
        let order = schema.namesInOrderOfReference.joined(separator: " ") + "/" + type
        return Array(BLAKE2b.hash(Array(order.utf8), length: 16).prefix(hashLength))
    }
}
