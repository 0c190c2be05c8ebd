import Foundation
import PeerSync

/// A file that BoardGameGeek makes: a collection or plays, as its XML API 2 answers, or the collection as its CSV export.
enum BGGFile {
    case collection([BGGCollectionEntry])
    case plays([BGGPlay])

    /// The plays; none in a collection.
    var plays: [BGGPlay] {
        if case .plays(let plays) = self { plays } else { [] }
    }

    /// The number of entries that are neither owned nor played.
    var wishes: Int {
        if case .collection(let entries) = self { entries.count { !$0.isOursOrPlayed } } else { 0 }
    }

    /// Reads the XML of an answer.
    ///
    /// - Throws: ``ScorebookError`` `invalidFile`, also for what BoardGameGeek answers when it has no list to give.
    init(xml data: Data) throws {
        var collection: [BGGCollectionEntry] = []
        var plays: [BGGPlay] = []
        var root = ""
        try XMLRecords.read(data) { element in
            root = element.name
            guard ["items", "plays", "message", "errors", "error"].contains(root) else {
                throw ScorebookError(
                    .invalidFile,
                    "this is an XML file of another program, which begins with <\(Display.printable(root.prefix(60)))>",
                    hint: ImportFile.hint)
            }
        } record: { element in
            switch (root, element.name) {
            case ("items", "item"): collection.append(try BGGCollectionEntry(element))
            case ("plays", "play"): plays.append(try BGGPlay(element))
            case ("items", _), ("plays", _): break
            default: throw Self.refused(element.wholeText)
            }
        } end: { text in
            guard ["items", "plays"].contains(root) else { throw Self.refused(text) }
        }
        self = root == "items" ? .collection(collection) : .plays(plays)
    }

    /// Reads the CSV of a collection.
    init(csv data: Data) throws {
        var rows = try CSVRows(data)
        guard let header = try rows.next() else { throw ScorebookError(.invalidFile, "the file is empty") }
        let columns = Dictionary(
            header.fields.enumerated().map { ($1.trimmed.lowercased(), $0) },
            uniquingKeysWith: { first, _ in first })
        var entries: [BGGCollectionEntry] = []
        while let row = try rows.next() {
            // The last line may be empty.
            guard row.fields != [""] else { continue }
            guard row.fields.count == header.fields.count else {
                throw ImportFileError.at(
                    "line \(row.line)",
                    "has \(row.fields.count.counted("value")), but the first line has \(header.fields.count.counted("column"))"
                )
            }
            entries.append(try BGGCollectionEntry(line: row.line) { columns[$0].map { row.fields[$0] } })
        }
        self = .collection(entries)
    }

    /// BoardGameGeek answers with a message while it prepares a collection, and when it has none.
    private static func refused(_ message: String) -> ScorebookError {
        ScorebookError(
            .invalidFile,
            "BoardGameGeek gave no list, and says: \(Display.printable(message.trimmed.prefix(200)))",
            hint:
                "ask BoardGameGeek for it again after a minute; it prepares a collection only when somebody asks"
        )
    }
}

extension Int {
    /// As in “1 value” and “2 values”.
    fileprivate func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
