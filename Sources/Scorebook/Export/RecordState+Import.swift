import PeerSync

extension RecordState {
    /// Makes a state whose fields all have the same stamp.
    init(name: RecordName, values: [(field: String, value: FieldValue)], stamp: Stamp) {
        self.init(
            name: name, fields: values.map { RecordField(name: $0.field, value: $0.value, stamp: stamp) })
    }
}

extension FieldValue {
    /// Makes a text; null for a missing or blank one.
    static func text(filled text: String?) -> FieldValue {
        guard let text, !text.trimmed.isEmpty else { return .null }
        return .text(text)
    }

    /// Makes a number; null for a missing one, and for 0, which stands for unknown.
    static func integer(known number: WholeNumber?) -> FieldValue { integer(known: number?.value) }

    /// Makes a number; null for a missing one, and for 0, which stands for unknown.
    static func integer(known number: Int?) -> FieldValue {
        guard let number, number != 0 else { return .null }
        return .integer(Int64(number))
    }

    static func boolean(_ value: Bool?) -> FieldValue {
        value.map { .integer($0 ? 1 : 0) } ?? .null
    }

    /// Makes a number as a NUMERIC column keeps it: an integer if it is whole.
    static func number(_ value: Double?) -> FieldValue {
        guard let value else { return .null }
        guard let whole = Int64(exactly: value) else { return .real(value) }
        return .integer(whole)
    }
}
