import ArgumentParser
import Foundation
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
        if json { return try Terminal.write(json: list) }
        let hasZones = try await store.hasSeveralZones()
        if csv {
            let rows = list.map { row($0) + (hasZones ? [$0.zone] : []) + ["\($0.recordName)"] }
            let titles = header + (hasZones ? ["ZONE"] : []) + ["RECORD NAME"]
            return Terminal.write(
                ([titles.map { $0.lowercased() }] + rows).map(Self.line).joined(separator: "\r\n"))
        }
        guard !list.isEmpty else { return Terminal.write(none) }
        let names = list.map(\.recordName)
        let ids = try await store.scorebook.shortIDs(of: names)
        let hasNumbers = store.printedLists.note(names)
        var rows = [(hasNumbers ? ["#"] : []) + header + (hasZones ? ["ZONE", "ID"] : ["ID"])]
        for (index, element) in list.enumerated() {
            let id = ids[element.recordName] ?? "\(element.recordName)"
            rows.append(
                (hasNumbers ? ["\(index + 1)"] : []) + row(element) + (hasZones ? [element.zone, id] : [id]))
        }
        let text = aligned(rows, to: Terminal.width)
        let title = text.prefix { $0 != "\n" }
        Terminal.writePages(Terminal.bold(String(title)) + text.dropFirst(title.count))
    }

    /// Writes a line of CSV (RFC 4180). A cell that a spreadsheet would take for a formula gets an apostrophe.
    private static func line(_ cells: [String]) -> String {
        cells.map { cell in
            let text = cell.first.map { "=+@".contains($0) } == true ? "'" + cell : cell
            guard text.contains(where: { ",\"\r\n".contains($0) }) else { return text }
            return "\"\(text.replacing("\"", with: "\"\""))\""
        }.joined(separator: ",")
    }
}
