/// A property that is null in JSON when it has no value. Without this the encoding leaves its key out, and objects of a list have
/// different keys.
@propertyWrapper
struct OrNull<Value: Encodable>: Encodable {
    // Not `Value?`, which begins with nil: then an initializer of the type that has the property takes an OrNull.
    var wrappedValue: Optional<Value>

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension OrNull: Sendable where Value: Sendable {}
