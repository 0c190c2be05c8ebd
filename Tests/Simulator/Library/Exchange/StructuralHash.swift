/// Hashes a value by its structure: all that it holds, however private. A search needs it of sessions, which tell nobody
/// their state.
struct StructuralHash {
    private var hasher = Hasher()

    /// The hash of a value. It is the same in one run of the program only.
    static func of(_ value: Any) -> Int {
        var hash = StructuralHash()
        hash.add(value)
        return hash.hasher.finalize()
    }

    private mutating func add(_ value: Any) {
        if let value = value as? any Hashable { return hasher.combine(AnyHashable(value)) }
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .enum, mirror.children.isEmpty { return hasher.combine("\(value)") }
        hasher.combine(mirror.children.count)
        for (label, child) in mirror.children {
            // The case of an enum.
            if mirror.displayStyle == .enum { hasher.combine(label) }
            add(child)
        }
    }
}
