import Foundation
import NIOCore

/// What is wrong with an upload.
enum MultipartError: Error, Equatable {
    /// It is no form with files (`multipart/form-data`), or names no boundary.
    case noForm
    /// It does not follow its own format; the text says where.
    case malformed(String)
    /// It ends before its last boundary.
    case incomplete
    /// The head of a part is longer than any browser writes it.
    case headTooLarge
    case tooManyParts
    /// A text field has more bytes than a form of the page has.
    case textTooLarge
    /// The whole has more bytes than the limit.
    case tooLarge(limit: Int)
    /// The directory for temporary files is full, or cannot be written.
    case cannotStore
}

/// Reads a form with files (RFC 7578) from bytes that come bit by bit: bytes in, events out. It does no I/O, and holds no more
/// than one head, or one piece of what came last.
struct MultipartParser {
    /// The head of a part.
    struct Head: Equatable {
        /// The name of the field.
        let name: String
        /// The name of the file, as the browser gave it; nil for a text field.
        let fileName: String?
        let contentType: String?
    }

    enum Event: Equatable {
        case part(Head)
        /// A piece of the part that began last.
        case bytes(ByteBuffer)
        case partEnd
        /// The last boundary came. Nothing after it counts.
        case end
    }

    /// The maximum number of bytes of the head of a part. File names are its longest piece.
    static let maximumHead = 8192
    static let maximumParts = 200

    private enum State {
        /// Before the first boundary.
        case beginning
        /// Behind a boundary: another part follows, or the end.
        case afterBoundary
        case head
        case content
        case ended
    }

    private var state = State.beginning
    private var parts = 0
    private var buffer = ByteBuffer()
    /// What stands between two parts.
    private let delimiter: [UInt8]

    /// - Parameter boundary: from the header `Content-Type`, see ``boundary(contentType:)``.
    init(boundary: String) {
        delimiter = Array("\r\n--\(boundary)".utf8)
    }

    mutating func append(_ bytes: ByteBuffer) {
        buffer.discardReadBytes()
        buffer.writeImmutableBuffer(bytes)
    }

    /// Returns what comes next; nil if that takes more bytes.
    mutating func next() throws(MultipartError) -> Event? {
        while true {
            switch state {
            case .beginning:
                // A first boundary has no line before it.
                guard let begins = begins(with: delimiter.dropFirst(2)) else { return nil }
                guard begins else { throw .malformed("it does not begin with its boundary") }
                state = .afterBoundary
            case .afterBoundary:
                guard let bytes = buffer.readBytes(length: 2) else { return nil }
                switch bytes {
                case Array("\r\n".utf8): state = .head
                case Array("--".utf8):
                    state = .ended
                    return .end
                default: throw .malformed("a boundary does not end its line")
                }
            case .head:
                guard let text = try head() else { return nil }
                parts += 1
                guard parts <= Self.maximumParts else { throw .tooManyParts }
                state = .content
                return .part(try MultipartHead.read(text))
            case .content:
                return content()
            case .ended:
                return nil
            }
        }
    }

    /// Says that no more bytes come.
    ///
    /// - Throws: ``MultipartError`` `incomplete`.
    func finish() throws(MultipartError) {
        guard case .ended = state else { throw .incomplete }
    }

    /// Reads some bytes if the buffer begins with them; nil if it is too short to tell.
    private mutating func begins(with bytes: ArraySlice<UInt8>) -> Bool? {
        let start = buffer.readableBytesView.prefix(bytes.count)
        guard start.elementsEqual(bytes.prefix(start.count)) else { return false }
        guard start.count == bytes.count else { return nil }
        buffer.moveReaderIndex(forwardBy: bytes.count)
        return true
    }

    private mutating func head() throws(MultipartError) -> String? {
        if begins(with: [13, 10]) == true { throw .malformed("a part does not name its field") }
        let end = Array("\r\n\r\n".utf8)
        guard let length = position(of: end) else {
            guard buffer.readableBytes < Self.maximumHead else { throw .headTooLarge }
            return nil
        }
        guard length <= Self.maximumHead else { throw .headTooLarge }
        let text = buffer.readString(length: length)
        buffer.moveReaderIndex(forwardBy: end.count)
        return text
    }

    private mutating func content() -> Event? {
        if let length = position(of: delimiter) {
            guard length > 0 else {
                buffer.moveReaderIndex(forwardBy: delimiter.count)
                state = .afterBoundary
                return .partEnd
            }
            return buffer.readSlice(length: length).map(Event.bytes)
        }
        // The last bytes may be the beginning of a boundary.
        let length = buffer.readableBytes - (delimiter.count - 1)
        return length > 0 ? buffer.readSlice(length: length).map(Event.bytes) : nil
    }

    /// Returns how many bytes stand before the first place that has the bytes.
    private func position(of bytes: [UInt8]) -> Int? {
        buffer.withUnsafeReadableBytes { all in
            guard let start = all.baseAddress, let first = bytes.first else { return nil }
            let last = all.count - bytes.count
            var offset = 0
            while offset <= last, let found = memchr(start + offset, Int32(first), last - offset + 1) {
                offset = UnsafeRawPointer(found) - start
                if memcmp(found, bytes, bytes.count) == 0 { return offset }
                offset += 1
            }
            return nil
        }
    }
}

/// The head of a part, and the header of the whole.
enum MultipartHead {
    /// Returns the boundary that the header `Content-Type` of a form with files names.
    static func boundary(contentType: String?) throws(MultipartError) -> String {
        let fields = parameters(contentType ?? "")
        guard fields.value.lowercased() == "multipart/form-data",
            let boundary = fields.parameters["boundary"],
            1...70 ~= boundary.utf8.count,
            boundary.utf8.allSatisfy({ 0x20...0x7E ~= $0 }), boundary.last != " "
        else { throw .noForm }
        return boundary
    }

    static func read(_ text: String) throws(MultipartError) -> MultipartParser.Head {
        var headers: [String: String] = [:]
        for line in text.split(separator: "\r\n").map(\.unicodeScalars) {
            guard let colon = line.firstIndex(of: ":") else {
                throw .malformed("a head has a line without a colon")
            }
            let name = String(line[..<colon]).lowercased()
            guard headers[name] == nil else { throw .malformed("a head says \(name) twice") }
            headers[name] = trimmed(line[colon...].dropFirst())
        }
        let disposition = parameters(headers["content-disposition"] ?? "")
        guard disposition.value.lowercased() == "form-data", let name = disposition.parameters["name"] else {
            throw .malformed("a part does not name its field")
        }
        return MultipartParser.Head(
            name: unescaped(name), fileName: disposition.parameters["filename"].map(unescaped),
            contentType: headers["content-type"])
    }

    /// Reads `value; name=token; name="quoted"`. Of a name that is there twice the first one counts.
    ///
    /// Goes by scalars: the first letter of a name may be a mark, which makes one `Character` with the quotation mark before it.
    private static func parameters(_ text: String) -> (value: String, parameters: [String: String]) {
        var rest = text.unicodeScalars[...]
        let value = rest.prefix { $0 != ";" }
        rest = rest.dropFirst(value.count)
        var parameters: [String: String] = [:]
        while rest.first == ";" {
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest.dropFirst(name.count)
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst()
            let text: String
            if rest.first == "\"" {
                (text, rest) = quoted(rest.dropFirst())
            } else {
                text = trimmed(rest.prefix { $0 != ";" })
            }
            rest = rest.drop { $0 != ";" }
            let key = trimmed(name).lowercased()
            if parameters[key] == nil { parameters[key] = text }
        }
        return (trimmed(value), parameters)
    }

    private static func trimmed(_ text: Substring.UnicodeScalarView) -> String {
        String(text).trimmingCharacters(in: .whitespaces)
    }

    /// Reads up to the quotation mark at the end. Browsers write one within as %22, other programs with a backslash before it; a
    /// backslash before anything else is a part of the name.
    private static func quoted(_ text: Substring.UnicodeScalarView) -> (String, Substring.UnicodeScalarView) {
        var result = String.UnicodeScalarView()
        var rest = text
        while let scalar = rest.popFirst(), scalar != "\"" {
            if scalar == "\\", rest.first == "\"" {
                rest = rest.dropFirst()
                result.append("\"")
            } else {
                result.append(scalar)
            }
        }
        return (String(result), rest)
    }

    /// Browsers escape three characters in names, and no others.
    private static func unescaped(_ text: String) -> String {
        text.replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing("%0A", with: "\n")
    }
}
