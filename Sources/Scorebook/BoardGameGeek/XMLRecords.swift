import Foundation
import PeerSync

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Reads an XML file whose top element holds a list of records, one record at a time: a file may have more than fit into memory
/// as a tree.
///
/// A file with a document type is refused, so that no entity is expanded or fetched.
final class XMLRecords: NSObject, XMLParserDelegate {
    /// An element with everything in it.
    struct Element {
        let name: String
        let attributes: [String: String]
        /// The line of the file where it begins.
        let line: Int
        /// The text between its children, in one.
        fileprivate(set) var text = ""
        fileprivate(set) var children: [Element] = []

        func first(_ name: String) -> Element? { children.first { $0.name == name } }

        /// Its text, and that of everything in it.
        var wholeText: String { ([text] + children.map(\.wholeText)).joined(separator: " ") }
    }

    /// The elements that are open: the top element, a record, and those in it.
    private var open: [Element] = []
    private var failure: (any Error)?
    private var hasEnded = false
    private let root: (Element) throws -> Void
    private let record: (Element) throws -> Void
    private let end: (String) throws -> Void

    private init(
        root: @escaping (Element) throws -> Void, record: @escaping (Element) throws -> Void,
        end: @escaping (String) throws -> Void
    ) {
        self.root = root
        self.record = record
        self.end = end
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - root: gets the top element when it begins, without its content.
    ///   - record: gets each child of the top element.
    ///   - end: gets the text of the top element.
    /// - Throws: what they throw; ``ScorebookError`` `invalidFile` with the place of the first error.
    static func read(
        _ data: Data, root: @escaping (Element) throws -> Void, record: @escaping (Element) throws -> Void,
        end: @escaping (String) throws -> Void
    ) throws {
        guard !data.prefix(4).contains(0), data.range(of: Data("<!DOCTYPE".utf8)) == nil else {
            throw ScorebookError(.invalidFile, "the XML has a document type or is not in UTF-8")
        }
        try XMLRecords(root: root, record: record, end: end).parse(data)
    }

    private func parse(_ data: Data) throws {
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        parser.delegate = self
        let isRead = parser.parse()
        parser.delegate = nil
        if let failure { throw failure }
        // On Linux the parser finds no fault in a file that was cut off.
        guard isRead, parser.parserError == nil, hasEnded else {
            let place = "line \(parser.lineNumber), column \(parser.columnNumber)"
            let problem = open.isEmpty ? "something is wrong" : "<\(open[open.count - 1].name)> is open"
            throw ScorebookError(
                .invalidFile, "the file is not XML, or not all of it is there: \(problem) at \(place)",
                place: place)
        }
    }

    // MARK: What the parser finds

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        let element = Element(name: name, attributes: attributes, line: parser.lineNumber)
        if open.isEmpty { attempt(parser) { try root(element) } }
        open.append(element)
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        guard !open.isEmpty else { return }
        open[open.count - 1].text += text
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        guard !open.isEmpty else { return }
        open[open.count - 1].text += String(decoding: block, as: UTF8.self)
    }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) {
        guard failure == nil, let element = open.popLast() else { return }
        switch open.count {
        case 0:
            hasEnded = true
            attempt(parser) { try end(element.text) }
        case 1: attempt(parser) { try record(element) }
        default: open[open.count - 1].children.append(element)
        }
    }

    private func attempt(_ parser: XMLParser, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            failure = error
            parser.abortParsing()
        }
    }
}
