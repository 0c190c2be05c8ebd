/// Finds where a text stops being JSON (RFC 8259).
///
/// Foundation's decoder says on some platforms no more than that the text is not JSON. This walk is made only
/// after it has failed, to tell people where to look.
struct JSONSyntax {
    /// The first error of a text.
    struct Failure: Error, Equatable {
        /// Bytes before it.
        let offset: Int
        /// What was expected there.
        let expected: String
    }

    /// Foundation's decoder refuses deeper nesting as well.
    private static let maximumDepth = 512

    private let bytes: [UInt8]
    private var position = 0

    /// The first error, or nil when there is none.
    static func firstFailure(in bytes: some Sequence<UInt8>) -> Failure? {
        var walk = JSONSyntax(bytes: Array(bytes))
        do throws(Failure) {
            try walk.value(depth: 0)
            walk.skipBlanks()
            guard walk.position == walk.bytes.count else { throw walk.failure("the end of the file") }
            return nil
        } catch {
            return error
        }
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func failure(_ expected: String) -> Failure {
        Failure(offset: position, expected: expected)
    }

    private mutating func skipBlanks() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(Failure) {
        guard depth < Self.maximumDepth else { throw failure("less than \(Self.maximumDepth) levels") }
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): try object(depth: depth)
        case UInt8(ascii: "["): try array(depth: depth)
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: try number()
        }
    }

    private mutating func object(depth: Int) throws(Failure) {
        position += 1
        skipBlanks()
        if take("}") { return }
        repeat {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw failure("a key in quotes") }
            try string()
            skipBlanks()
            guard take(":") else { throw failure("a colon") }
            try value(depth: depth + 1)
            skipBlanks()
        } while take(",")
        guard take("}") else { throw failure("a comma or }") }
    }

    private mutating func array(depth: Int) throws(Failure) {
        position += 1
        skipBlanks()
        if take("]") { return }
        repeat {
            try value(depth: depth + 1)
            skipBlanks()
        } while take(",")
        guard take("]") else { throw failure("a comma or ]") }
    }

    private mutating func string() throws(Failure) {
        let start = position
        position += 1
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                guard String(validating: bytes[start..<position], as: UTF8.self) != nil else {
                    position = start
                    throw failure("a string in UTF-8")
                }
                position += 1
                return
            case UInt8(ascii: "\\"): try escape()
            case 0..<0x20: throw failure("a string without line breaks and other control characters")
            default: position += 1
            }
        }
        // The beginning helps more than the end of the file, where every such string ends.
        position = start
        throw failure("the closing quote of the string")
    }

    private mutating func escape() throws(Failure) {
        position += 1
        guard let byte = next else { throw failure("an escape") }
        if byte == UInt8(ascii: "u") {
            for _ in 0..<4 {
                position += 1
                guard let digit = next, Character(Unicode.Scalar(digit)).isHexDigit else {
                    throw failure("four hexadecimal digits")
                }
            }
        } else if !"\"\\/bfnrt".utf8.contains(byte) {
            throw failure("an escape")
        }
        position += 1
    }

    private mutating func word(_ word: String) throws(Failure) {
        for byte in word.utf8 {
            guard next == byte else { throw failure(word) }
            position += 1
        }
    }

    private mutating func number() throws(Failure) {
        let isNegative = take("-")
        if !take("0") { try digits(isNegative ? "a digit" : "a value") }
        if take(".") { try digits("a digit") }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits("a digit")
        }
    }

    private mutating func digits(_ expected: String) throws(Failure) {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        guard position > start else { throw failure(expected) }
    }
}
