import Foundation
import PeerSync

/// A file of another program, told by its first bytes.
enum ForeignFile {
    case scorebookDatabase, zip, gzip, pdf, picture, webPage, commandOutput
    /// With the columns of its first line.
    case table(String)

    /// - Returns: nil for a file that may be one to import.
    init?(_ data: Data) {
        let beginnings: [(ForeignFile, [UInt8])] = [
            (.scorebookDatabase, Array(ScorebookDatabase.header)), (.zip, [0x50, 0x4B, 3, 4]),
            (.gzip, [0x1F, 0x8B]),
            (.pdf, Array("%PDF-".utf8)), (.picture, [0x89, 0x50, 0x4E, 0x47]),
            (.picture, [0xFF, 0xD8, 0xFF]),
        ]
        if let known = beginnings.first(where: { data.starts(with: $0.1) })?.0 {
            self = known
            return
        }
        let start = String(decoding: data.prefix(1000), as: UTF8.self)
        let word = start.trimmed.lowercased()
        let line = start.prefix { !$0.isNewline }
        if word.hasPrefix("<!doctype html") || word.hasPrefix("<html") {
            self = .webPage
        } else if word.hasPrefix("["), start.contains("\"recordName\"") {
            self = .commandOutput
        } else if let first = word.first, first.isLetter || first == "\"", !line.contains("objectid"),
            line.contains(where: { ",;\t".contains($0) })
        {
            self = .table(String(line.prefix(80)))
        } else {
            return nil
        }
    }

    /// The sentence for people.
    var refusal: ScorebookError {
        let (what, hint) = words
        return ScorebookError(.invalidFile, "this is \(what)", hint: hint)
    }

    private var words: (String, String) {
        switch self {
        case .scorebookDatabase:
            (
                "an SQLite database; a scorebook's own file is not imported",
                "`export` there writes a file to import; --store opens the directory in which the database is"
            )
        case .zip:
            ("a ZIP archive or a spreadsheet", "unpack it, or save the sheet as CSV; \(ImportFile.hint)")
        case .gzip: ("a file that gzip has packed", "unpack it with `gunzip`")
        case .pdf: ("a PDF", ImportFile.hint)
        case .picture: ("a picture", "`image add` takes pictures")
        case .webPage:
            (
                "a web page",
                "save what the address of the export gives, not the page around it; \(ImportFile.hint)"
            )
        case .commandOutput: ("what a command printed with --json", "`export` writes a file to import")
        case .table(let columns):
            ("a table of another program, with the columns \(Display.printable(columns))", ImportFile.hint)
        }
    }
}
