import Foundation
import PeerSync

/// The content of a file, in the format that it turned out to have.
enum ImportFile {
    case bgStats(BGStatsExport)
    case scorebook(ScorebookExport)
    case boardGameGeek(BGGFile)

    /// What can be imported, for people whose file cannot.
    static let hint =
        "what can be imported: an export of a scorebook or of BG Stats (JSON), a collection or plays of BoardGameGeek (XML), "
        + "a collection of BoardGameGeek (CSV)"

    /// - Throws: ``ScorebookError`` `invalidFile`, with the name of the other program's format if it is known, or with the place
    ///   of the first error.
    init(_ data: Data) throws {
        let mark = Data([0xEF, 0xBB, 0xBF])
        let text = data.starts(with: mark) ? data.dropFirst(mark.count) : data
        guard !text.isEmpty else { throw ScorebookError(.invalidFile, "the file is empty") }
        if let foreign = ForeignFile(text) { throw foreign.refusal }
        let start = text.prefix(4096)
        if start.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "<") {
            self = .boardGameGeek(try BGGFile(xml: text))
        } else if Self.isCollectionCSV(start) {
            self = .boardGameGeek(try BGGFile(csv: text))
        } else {
            self = try Self.json(text)
        }
    }

    private static func isCollectionCSV(_ start: Data) -> Bool {
        let line = String(decoding: start.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self).lowercased()
        return line.contains("objectname") && line.contains("objectid") && line.contains(",")
    }

    private static func json(_ text: Data) throws -> ImportFile {
        do {
            return try JSONDecoder().decode(JSONFile.self, from: text).file
        } catch {
            throw ImportFileError.understood(error, in: text)
        }
    }

    private struct JSONFile: Decodable {
        let file: ImportFile

        private enum CodingKeys: String, CodingKey { case format, players, games, plays }

        init(from decoder: any Decoder) throws {
            let container = try? decoder.container(keyedBy: CodingKeys.self)
            if let container, container.contains(.format) {
                file = .scorebook(try ScorebookExport(from: decoder))
            } else if let container, !container.allKeys.isEmpty {
                file = .bgStats(try BGStatsExport(from: decoder))
            } else {
                throw ScorebookError(
                    .invalidFile, "the file is neither a BG Stats export nor the export of a scorebook",
                    hint: ImportFile.hint)
            }
        }
    }
}
