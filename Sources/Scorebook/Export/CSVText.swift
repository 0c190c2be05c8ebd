/// Writes CSV (RFC 4180).
public enum CSVText {
    /// Returns a line without its end. A cell that a spreadsheet would take for a formula gets an apostrophe.
    public static func line(_ cells: [String]) -> String { cells.map(field).joined(separator: ",") }

    // Goes by bytes, as spreadsheets do: a line feed after a carriage return, or a comma before an accent, is no character of its own.
    private static func field(_ cell: String) -> String {
        let text = isFormula(cell) ? "'" + cell : cell
        guard text.utf8.contains(where: { ",\"\r\n".utf8.contains($0) }) else { return text }
        return "\"\(text.replacingScalars(["\"": "\"\""]))\""
    }

    /// Whether a spreadsheet may compute a cell. It does not with a number, nor with a sign alone. Some take full-width signs, too.
    private static func isFormula(_ cell: String) -> Bool {
        let scalars = cell.unicodeScalars
        guard let first = scalars.first, scalars.count > 1,
            "=+-@\t\r\n＝＋－＠".unicodeScalars.contains(first)
        else { return false }
        return cell.wholeMatch(of: /[+\-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+\-]?[0-9]+)?/) == nil
    }
}
