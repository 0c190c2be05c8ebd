/// A value of JSON that is null when there is none: so every object has the same keys, which the compiler's own encoding leaves out.
@propertyWrapper
struct OrNull<Value: Encodable>: Encodable {
    let wrappedValue: Value?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension OrNull: Sendable where Value: Sendable {}
