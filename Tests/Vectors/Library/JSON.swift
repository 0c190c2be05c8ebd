/// JSON whose objects keep the order of their keys, so that a file of vectors shows values in the order of their use.
package enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Int)
    case string(String)
    case array([JSON])
    case object([Member])

    package struct Member: Equatable, Sendable {
        package let key: String
        package let value: JSON
    }

    /// An array or object whose line would be longer than this has one element a line.
    private static let lineLength = 118

    /// The text of a file: two blanks for each level, a line feed at the end.
    package var text: String {
        var output = ""
        write(to: &output, indentation: 0)
        return output + "\n"
    }

    private func write(to output: inout String, indentation: Int) {
        let isNested = indentation > 1
        let line = compact
        switch self {
        case .array(let elements) where !elements.isEmpty && !(isNested && fits(line, indentation)):
            write(elements.map { ("", $0) }, "[", "]", to: &output, indentation: indentation)
        case .object(let members) where !members.isEmpty && !(isNested && fits(line, indentation)):
            let parts = members.map { ("\(Self.quoted($0.key)): ", $0.value) }
            write(parts, "{", "}", to: &output, indentation: indentation)
        default:
            output += line
        }
    }

    private func fits(_ line: String, _ indentation: Int) -> Bool {
        line.utf8.count + 2 * indentation <= Self.lineLength
    }

    private func write(
        _ parts: [(prefix: String, value: JSON)], _ opening: String, _ closing: String,
        to output: inout String, indentation: Int
    ) {
        output += opening
        for (index, part) in parts.enumerated() {
            output +=
                (index == 0 ? "\n" : ",\n") + String(repeating: "  ", count: indentation + 1) + part.prefix
            part.value.write(to: &output, indentation: indentation + 1)
        }
        output += "\n" + String(repeating: "  ", count: indentation) + closing
    }

    /// The text on one line.
    private var compact: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let value): "\(value)"
        case .string(let text): Self.quoted(text)
        case .array(let elements): "[" + elements.map(\.compact).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\(Self.quoted($0.key)): \($0.value.compact)" }.joined(separator: ", ") + "}"
        }
    }

    /// Escapes everything but printable ASCII, so that no editor and no terminal changes it.
    private static func quoted(_ text: String) -> String {
        var output = "\""
        for unit in text.utf16 {
            switch unit {
            case 0x22: output += "\\\""
            case 0x5C: output += "\\\\"
            case 0x20...0x7E: output.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
            default:
                let digits = String(unit, radix: 16)
                output += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return output + "\""
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral,
    ExpressibleByStringInterpolation
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
    package init(integerLiteral value: Int) { self = .number(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(nilLiteral: ()) { self = .null }

    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.map { Member(key: $0.0, value: $0.1) })
    }
}
