import Foundation

/// Errors in imported files, each with its place in the file.
enum ImportFileError {
    /// Makes the error that something at a place is wrong.
    ///
    /// - Parameters:
    ///   - place: a path such as `plays[12].playerScores[0].playerRefId`.
    ///   - what: the rest of the sentence, as in “is missing”.
    static func at(_ place: String, _ what: String) -> ScorebookError {
        ScorebookError(.invalidFile, "\(place) \(what)", place: place)
    }

    /// Translates an error from reading a file into a sentence for people.
    static func understood(_ error: any Error, in data: Data) -> ScorebookError {
        // Foundation's decoder parses texts and numbers only on demand, and reports an unreadable one as a wrong type.
        // So this checks the syntax of the file first.
        if let failure = syntaxError(data) { return failure }
        switch error {
        case let error as ScorebookError: return error
        case let error as DecodingError: return understood(error)
        default: return unreadable
        }
    }

    private static let unreadable = ScorebookError(
        .invalidFile, "the file has a value that cannot be read")

    private static func understood(_ error: DecodingError) -> ScorebookError {
        switch error {
        case .keyNotFound(let key, let context):
            return at(path(context.codingPath + [key]), "is missing")
        case .valueNotFound(let type, let context):
            return at(path(context.codingPath), "is null; it should be \(noun(type))")
        case .typeMismatch(let type, let context):
            return at(path(context.codingPath), "should be \(noun(type))")
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            return at(path(context.codingPath), "cannot be read")
        default:
            return unreadable
        }
    }

    /// Returns a coding path as JavaScript writes it: `plays[12].playerRefId`.
    static func path(_ codingPath: [any CodingKey]) -> String {
        var path = ""
        for key in codingPath {
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        return path.isEmpty ? "the file as a whole" : path
    }

    private static func noun(_ type: any Any.Type) -> String {
        switch type {
        case is Bool.Type: "true or false"
        case is String.Type: "a text"
        case is Int.Type, is Int64.Type: "a whole number"
        case is Double.Type: "a number"
        case is [Any].Type: "a list"
        default: "\(type)".hasPrefix("Array") ? "a list" : "an object"
        }
    }

    // MARK: Syntax

    private static func syntaxError(_ data: Data) -> ScorebookError? {
        // Foundation's decoder also reads UTF-16 and UTF-32, which have zeros among the first bytes.
        guard !data.prefix(4).contains(0), let failure = JSONSyntax.firstFailure(in: data) else { return nil }
        let place = lineAndColumn(failure.offset, data)
        return ScorebookError(.invalidFile, "\(failure.problem) at \(place)", place: place)
    }

    /// Returns the place of a byte. Lines and columns count from 1; a column is a byte.
    private static func lineAndColumn(_ offset: Int, _ data: Data) -> String {
        let before = data.prefix(offset)
        let lineBreak = UInt8(ascii: "\n")
        let line = before.count { $0 == lineBreak } + 1
        let column = before.reversed().prefix { $0 != lineBreak }.count + 1
        return "line \(line), column \(column)"
    }
}
