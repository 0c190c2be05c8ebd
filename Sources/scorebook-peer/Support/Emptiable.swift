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
        // People may also type the minus sign.
        let text = NegativeNumber.unmasked(argument).replacing("\u{2212}", with: "-")
        guard let value = Value(argument: text) else { return nil }
        self.value = value
    }
}

extension Change where Value: ExpressibleByArgument {
    /// The effect of an option; of one that is not given, none.
    init(_ option: Emptiable<Value>?) {
        self = option.map { $0.value.map(Change.set) ?? .clear } ?? .keep
    }
}
