import ArgumentParser
import Foundation
import PeerSync
import Scorebook

/// The choice between lists for people, for other programs and for spreadsheets.
struct ListOptions: ParsableArguments {
    @Flag(name: .long, help: "Print JSON, for other programs.")
    var json = false

    @Flag(name: .long, help: "Print comma-separated values, for spreadsheets.")
    var csv = false

    func validate() throws {
        guard !json || !csv else { throw ValidationError("give one of --json and --csv") }
    }

    /// Writes a list of records: as JSON; as CSV with whole record names; or as a table with numbers and ids, by which the
    /// next command may name a record. If there are several zones, it says the zones.
    func write<Element: RecordListing>(
        _ list: [Element], of store: OpenStore, header: [String], none: String, row: (Element) -> [String]
    ) async throws {
        let pages = AsyncStream<[Element]> { stream in
            stream.yield(list)
            stream.finish()
        }
        try await write(
            pages, names: list.map(\.recordName), of: store, header: header, none: none, row: row)
    }

    /// Writes a list that is read page by page; see ``write(_:of:header:none:row:)``.
    ///
    /// - Parameter names: the records of all pages, in their order.
    func write<Element: RecordListing, Pages: AsyncSequence>(
        _ pages: Pages, names: [RecordName], of store: OpenStore, header: [String], none: String,
        row: (Element) -> [String]
    ) async throws where Pages.Element == [Element] {
        var iterator = pages.makeAsyncIterator()
        if json { return try await writeJSON { try await iterator.next() } }
        let hasZones = try await store.hasSeveralZones()
        let titles = header + (hasZones ? ["ZONE"] : [])
        func cells(_ element: Element) -> [String] { row(element) + (hasZones ? [element.zone] : []) }
        if csv {
            Terminal.write(bytes: Data(CSVText.line((titles + ["RECORD NAME"]).map { $0.lowercased() }).utf8))
            while let page = try await iterator.next() {
                let rows = page.map {
                    "\r\n" + Self.shown(csv: CSVText.line(cells($0) + ["\($0.recordName)"]))
                }
                Terminal.write(bytes: Data(rows.joined().utf8))
            }
            return Terminal.write("")
        }
        guard !names.isEmpty else { return Terminal.write(none) }
        let ids = try await store.scorebook.shortIDs(of: Set(names.map(\.recordType)))
        let hasNumbers = store.printedLists.note(names)
        var columns = AlignedColumns(width: Terminal.width)
        var position = 0
        func lines(_ page: [Element], below titles: [[String]] = []) -> String {
            let rows = page.map { element in
                // What was deleted since has a number, too, and no line.
                while position < names.count, names[position] != element.recordName { position += 1 }
                position += 1
                let name = element.recordName
                return (hasNumbers ? ["\(position)"] : []) + cells(element) + [
                    ids[name.recordType]?.id(name) ?? "\(name)"
                ]
            }
            return columns.text(titles + rows)
        }
        let first = lines(
            try await iterator.next() ?? [], below: [(hasNumbers ? ["#"] : []) + titles + ["ID"]])
        let top = first.prefix { $0 != "\n" }
        try await Terminal.writePages(Terminal.bold(String(top)) + first.dropFirst(top.count)) {
            try await iterator.next().map { lines($0) }
        }
    }

    /// Writes one JSON array of all pages, in the form of ``Terminal/write(json:compact:)``.
    private func writeJSON<Element: RecordListing>(_ next: () async throws -> [Element]?) async throws {
        var isFirst = true
        while let page = try await next() {
            guard !page.isEmpty else { continue }
            // Between the brackets.
            let elements = try Terminal.text(json: page).dropFirst(2).dropLast(2)
            Terminal.write(bytes: Data(((isFirst ? "[\n" : ",\n") + elements).utf8))
            isFirst = false
        }
        if isFirst { try Terminal.write(json: [Element]()) } else { Terminal.write("\n]") }
    }

    /// A line of CSV as it is, or so that it cannot steer a terminal, if it goes to one.
    private static func shown(csv line: String) -> String {
        Terminal.isOutputATerminal ? Display.printable(line) : line
    }

    /// Writes matches as CSV, with a row for each player.
    func writeCSV(_ matches: MatchPages, of store: OpenStore) async throws {
        Terminal.write(bytes: Data(CSVText.line(CSVText.matchTitles).utf8))
        for try await page in matches {
            let lines = try await store.scorebook.csvLines(of: page)
            Terminal.write(bytes: Data(lines.map { "\r\n" + Self.shown(csv: $0) }.joined().utf8))
        }
        Terminal.write("")
    }
}
