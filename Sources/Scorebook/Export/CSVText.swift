/// Writes CSV (RFC 4180).
public enum CSVText {
    /// Returns a line without its end. A cell that a spreadsheet would take for a formula gets an apostrophe.
    public static func line(_ cells: [String]) -> String {
        cells.map { cell in
            let text = cell.first.map { "=+@".contains($0) } == true ? "'" + cell : cell
            guard text.contains(where: { ",\"\r\n".contains($0) }) else { return text }
            return "\"\(text.replacing("\"", with: "\"\""))\""
        }.joined(separator: ",")
    }
}
