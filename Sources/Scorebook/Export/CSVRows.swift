import Foundation

/// The rows of a CSV file (RFC 4180), one at a time. A value in quotes may have commas and line breaks.
struct CSVRows {
    struct Row {
        /// The line of the file where the row begins, from 1.
        let line: Int
        let fields: [String]
    }

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1

    /// - Throws: ``ScorebookError`` `invalidFile` for another encoding than UTF-8.
    init(_ data: Data) throws {
        guard String(validating: data, as: UTF8.self) != nil else {
            throw ScorebookError(
                .invalidFile, "the CSV is not in UTF-8", hint: "save it as “CSV UTF-8” from the spreadsheet")
        }
        bytes = Array(data)
    }

    /// Returns the next row; nil at the end.
    mutating func next() throws -> Row? {
        guard position < bytes.count else { return nil }
        let start = line
        var fields = [try field()]
        while position < bytes.count, bytes[position] == UInt8(ascii: ",") {
            position += 1
            fields.append(try field())
        }
        if position < bytes.count, bytes[position] == UInt8(ascii: "\r") { position += 1 }
        if position < bytes.count {
            guard bytes[position] == UInt8(ascii: "\n") else {
                throw ImportFileError.at("line \(line)", "has something after the closing quote of a value")
            }
            position += 1
            line += 1
        }
        return Row(line: start, fields: fields)
    }

    private mutating func field() throws -> String {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
            let rest = bytes[position...].prefix { !",\r\n".utf8.contains($0) }
            position = rest.endIndex
            return String(decoding: rest, as: UTF8.self)
        }
        let start = line
        var value: [UInt8] = []
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\n") { line += 1 }
            if byte == UInt8(ascii: "\"") {
                // Two quotes stand for one.
                guard position < bytes.count, bytes[position] == byte else {
                    return String(decoding: value, as: UTF8.self)
                }
                position += 1
            }
            value.append(byte)
        }
        throw ImportFileError.at("line \(start)", "has a value whose closing quote is missing")
    }
}
