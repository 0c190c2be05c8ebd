/// Hashes a value by its structure: all that it holds, however private. A search needs it of sessions, which tell nobody
/// their state.
///
/// Dictionaries have no order, so a value that holds one cannot be hashed so; sets of names are sorted by their text.
struct StructuralHash {
    private var hasher = Hasher()

    /// The hash of a value.
    static func of(_ value: Any) -> Int {
        var hash = StructuralHash()
        hash.add(value)
        return hash.hasher.finalize()
    }

    private mutating func add(_ value: Any) {
        if let value = value as? any Hashable, !(value is any Collection) {
            return hasher.combine(AnyHashable(value))
        }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .set:
            for hash in mirror.children.map({ Self.of($0.value) }).sorted() { hasher.combine(hash) }
        case .enum where mirror.children.isEmpty:
            hasher.combine("\(value)")
        default:
            hasher.combine(mirror.children.count)
            for (label, child) in mirror.children {
                // The case of an enum.
                if mirror.displayStyle == .enum { hasher.combine(label) }
                add(child)
            }
        }
    }
}
