/// A word, a literal or a sign of a statement, with its place there. Only for statements that SQLite has accepted.
struct SQLToken {
    enum Kind {
        /// A keyword, a name without quotation marks, or a number.
        case word
        /// A name in quotation marks, or a literal of a text or a BLOB, which SQLite also takes for a name.
        case quoted
        case sign
    }

    let kind: Kind
    /// The bytes of the statement that it covers.
    let range: Range<Int>
    /// A word or a sign as it stands; a name or literal without its quotation marks.
    let text: String
    /// The number of parentheses around it.
    let depth: Int
    /// Whether it stands in the quotation marks of a literal, of a text or a BLOB.
    let isLiteral: Bool

    /// Whether it is a keyword, in any capitals.
    func isWord(_ keyword: String) -> Bool { kind == .word && text.uppercased() == keyword }

    func isSign(_ sign: String) -> Bool { kind == .sign && text == sign }

    /// Whether it may be the name of a table or column.
    func isName(_ name: String) -> Bool { kind != .sign && text.isSameName(as: name) }

    /// Reads a statement; nil when quotation marks or a comment never end.
    static func tokens(of sql: [UInt8]) -> [SQLToken]? {
        var scanner = SQLScanner(sql)
        var tokens: [SQLToken] = []
        while scanner.skipSpace(), !scanner.isAtEnd {
            guard let token = scanner.next() else { return nil }
            tokens.append(token)
        }
        return scanner.isAtEnd ? tokens : nil
    }
}

extension [SQLToken] {
    /// Where some keywords stand one after the other.
    func places(of keywords: [String]) -> [Int] {
        indices.filter { self[$0...].prefix(keywords.count).elementsEqual(keywords) { $0.isWord($1) } }
    }
}

/// Walks through the bytes of a statement.
private struct SQLScanner {
    private let sql: [UInt8]
    private var position = 0
    private var depth = 0

    init(_ sql: [UInt8]) { self.sql = sql }

    var isAtEnd: Bool { position == sql.count }

    /// Skips blanks and comments; false for a comment that never ends.
    mutating func skipSpace() -> Bool {
        while position < sql.count {
            if has("--") {
                // SQLite ends such a comment at LF alone.
                position = sql[position...].firstIndex(of: UInt8(ascii: "\n")) ?? sql.count
            } else if has("/*") {
                guard let end = (position + 2..<sql.count).first(where: { has("*/", at: $0) }) else {
                    return false
                }
                position = end + 2
            } else if [0x20, 0x09, 0x0A, 0x0C, 0x0D].contains(sql[position]) {
                position += 1
            } else {
                break
            }
        }
        return true
    }

    mutating func next() -> SQLToken? {
        let start = position
        switch sql[start] {
        case UInt8(ascii: "("):
            depth += 1
            position += 1
            return token(.sign, start, depth: depth - 1)
        case UInt8(ascii: ")"):
            depth -= 1
            position += 1
            return token(.sign, start)
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "\u{60}"), UInt8(ascii: "["):
            return quoted(from: start)
        case UInt8(ascii: "x"), UInt8(ascii: "X"):
            guard has("'", at: start + 1) else { break }
            position += 1
            return quoted(from: start)
        default: break
        }
        while position < sql.count, isInWord(position, from: start) { position += 1 }
        guard position == start else { return token(.word, start) }
        position += 1
        return token(.sign, start)
    }

    /// - Parameter start: where the token begins; the quotation mark may come one byte later.
    private mutating func quoted(from start: Int) -> SQLToken? {
        let mark = sql[position] == UInt8(ascii: "[") ? UInt8(ascii: "]") : sql[position]
        var content: [UInt8] = []
        position += 1
        while position < sql.count {
            if sql[position] == mark {
                position += 1
                // Two of them stand for one, but in brackets.
                let isDoubled = mark != UInt8(ascii: "]") && position < sql.count && sql[position] == mark
                guard isDoubled else {
                    return token(.quoted, start, String(decoding: content, as: UTF8.self))
                }
            }
            content.append(sql[position])
            position += 1
        }
        return nil
    }

    private func token(_ kind: SQLToken.Kind, _ start: Int, _ text: String? = nil, depth: Int? = nil)
        -> SQLToken
    {
        SQLToken(
            kind: kind, range: start..<position,
            text: text ?? String(decoding: sql[start..<position], as: UTF8.self),
            depth: depth ?? self.depth,
            isLiteral: kind == .quoted && "'xX".utf8.contains(sql[start]))
    }

    /// Whether a byte goes on with a name or a number.
    private func isInWord(_ index: Int, from start: Int) -> Bool {
        let isNumber = isDigit(start) || sql[start] == UInt8(ascii: ".") && isDigit(start + 1)
        switch sql[index] {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "$"), 0x80...:
            return true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return true
        case UInt8(ascii: "."): return isNumber
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            // The sign of an exponent.
            return isNumber && !has("0x", at: start) && !has("0X", at: start) && isDigit(index + 1)
                && [UInt8(ascii: "e"), UInt8(ascii: "E")].contains(sql[index - 1])
        default: return false
        }
    }

    private func isDigit(_ index: Int) -> Bool {
        index < sql.count && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(sql[index])
    }

    private func has(_ text: StaticString, at index: Int? = nil) -> Bool {
        let index = index ?? position
        return text.withUTF8Buffer { sql.dropFirst(index).starts(with: $0) }
    }
}
