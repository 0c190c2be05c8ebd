import ArgumentParser
import Scorebook

/// The value of an option of an edit, such as a number. An empty text takes away what was there.
struct Emptiable<Value: ExpressibleByArgument & Sendable>: ExpressibleByArgument {
    /// nil for an empty text.
    let value: Value?

    init?(argument: String) {
        guard !argument.isEmpty else {
            value = nil
            return
        }
        guard let value = Value(argument: NegativeNumber.unmasked(argument)) else { return nil }
        self.value = value
    }
}

extension Change where Value: ExpressibleByArgument {
    /// The effect of an option; of one that is not given, none.
    init(_ option: Emptiable<Value>?) {
        self = option.map { $0.value.map(Change.set) ?? .clear } ?? .keep
    }
}
