/// The effect of an edit on one value.
public enum Change<Value: Sendable>: Sendable {
    /// Keeps the value.
    case keep
    /// Makes it this one.
    case set(Value)
    /// Makes the value unknown.
    case clear

    /// Sets the given value, or keeps the old one if none is given.
    public init(_ value: Value?) {
        self = value.map(Change.set) ?? .keep
    }

    func apply(to value: inout Value?) {
        switch self {
        case .keep: break
        case .set(let new): value = new
        case .clear: value = nil
        }
    }
}

extension Change: Equatable where Value: Equatable {}
