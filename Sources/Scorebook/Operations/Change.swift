/// What an edit does to one value.
public enum Change<Value: Sendable>: Sendable {
    /// It stays as it is.
    case keep
    case set(Value)
    /// It becomes unknown.
    case clear

    /// Sets a value that is given, keeps what is there when none is.
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
