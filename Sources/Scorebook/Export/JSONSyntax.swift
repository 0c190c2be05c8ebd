/// A search for the first error in a JSON text (RFC 8259).
///
/// On some platforms Foundation's decoder says only that the text is not JSON. This search runs only after the decoder
/// has failed, and tells people where to look.
struct JSONSyntax {
    /// The first error of a text.
    struct Failure: Error, Equatable {
        /// The number of bytes before it.
        let offset: Int
        /// The problem. In the message, the place follows it.
        let problem: String
    }

    /// The maximum nesting, the same as that of Foundation's decoder.
    private static let maximumDepth = 512

    private let bytes: [UInt8]
    private var position = 0

    /// Returns the first error; nil if there is none.
    static func firstFailure(in bytes: some Sequence<UInt8>) -> Failure? {
        var walk = JSONSyntax(bytes: Array(bytes))
        do throws(Failure) {
            try walk.value(depth: 0)
            walk.skipBlanks()
            guard walk.position == walk.bytes.count else { throw walk.notJSON("something follows its end") }
            return nil
        } catch {
            return error
        }
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func missing(_ what: String) -> Failure { notJSON("\(what) is missing") }

    private func notJSON(_ problem: String) -> Failure {
        Failure(offset: position, problem: "the file is not JSON: \(problem)")
    }

    private func unreadable(_ problem: String) -> Failure {
        Failure(offset: position, problem: "the file cannot be read: \(problem)")
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
        guard depth < Self.maximumDepth else {
            throw unreadable("there are more than \(Self.maximumDepth) objects and lists in each other")
        }
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
            guard next == UInt8(ascii: "\"") else { throw missing("a key in quotes") }
            try string()
            skipBlanks()
            guard take(":") else { throw missing("a colon") }
            try value(depth: depth + 1)
            skipBlanks()
        } while take(",")
        guard take("}") else { throw missing("a comma or }") }
    }

    private mutating func array(depth: Int) throws(Failure) {
        position += 1
        skipBlanks()
        if take("]") { return }
        repeat {
            try value(depth: depth + 1)
            skipBlanks()
        } while take(",")
        guard take("]") else { throw missing("a comma or ]") }
    }

    private mutating func string() throws(Failure) {
        let start = position
        position += 1
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                guard String(validating: bytes[start..<position], as: UTF8.self) != nil else {
                    position = start
                    throw notJSON("a string is not in UTF-8")
                }
                position += 1
                return
            case UInt8(ascii: "\\"): try escape()
            case 0..<0x20: throw notJSON("a string has a line break or another control character")
            default: position += 1
            }
        }
        // The start of the string helps people more than the end of the file, where every unclosed string ends.
        position = start
        throw missing("the closing quote of the string")
    }

    private mutating func escape() throws(Failure) {
        let start = position
        position += 1
        if take("u") {
            let unit = try codeUnit()
            if UTF16.isLeadSurrogate(unit), take("\\"), take("u"), UTF16.isTrailSurrogate(try codeUnit()) {
                return
            }
            guard UTF16.isSurrogate(unit) else { return }
            position = start
            throw unreadable("a string has a surrogate without its other half")
        }
        guard let byte = next, "\"\\/bfnrt".utf8.contains(byte) else {
            position = start
            throw notJSON("a string has a backslash that begins no escape")
        }
        position += 1
    }

    /// Reads four hexadecimal digits as a number.
    private mutating func codeUnit() throws(Failure) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                throw missing("one of four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    private mutating func word(_ word: String) throws(Failure) {
        for byte in word.utf8 {
            guard next == byte else { throw missing(word) }
            position += 1
        }
    }

    private mutating func number() throws(Failure) {
        let start = position
        let isNegative = take("-")
        if !take("0") { try digits(isNegative ? "a digit" : "a value") }
        if take(".") { try digits("a digit") }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits("a digit")
        }
        let value = Double(String(decoding: bytes[start..<position], as: UTF8.self))
        guard value?.isFinite == true else {
            position = start
            throw unreadable("a number is too large")
        }
    }

    private mutating func digits(_ expected: String) throws(Failure) {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        guard position > start else { throw missing(expected) }
    }
}
