/// A table for a terminal: aligned columns, two blanks between them, no lines.
public struct TextTable {
    /// The title of a column, and the side at which its cells are aligned.
    public struct Column {
        let title: String
        let isRight: Bool

        /// Makes a column of texts, aligned at the left.
        public static func left(_ title: String) -> Column { Column(title: title, isRight: false) }
        /// Makes a column of numbers, aligned at the right.
        public static func right(_ title: String) -> Column { Column(title: title, isRight: true) }
    }

    private let columns: [Column]
    private var rows: [[String]] = []

    /// Makes a table without rows.
    public init(_ columns: [Column]) {
        self.columns = columns
    }

    /// Adds a row with one cell for each column. Replaces control characters in them.
    public mutating func append(_ cells: [String]) {
        precondition(cells.count == columns.count, "a row has one cell for each column")
        rows.append(cells.map { Display.printable($0) })
    }

    /// The titles and the rows. Each line ends with a line break, without blanks before it.
    ///
    /// There is no line of titles if all of them are empty.
    public var text: String {
        let titles = columns.map(\.title)
        let lines = (titles.allSatisfy(\.isEmpty) ? [] : [titles]) + rows
        let widths = columns.indices.map { column in lines.map { Display.width($0[column]) }.max() ?? 0 }
        return lines.map { line in
            var text = columns.indices
                .map { Display.padded(line[$0], to: widths[$0], isRight: columns[$0].isRight) }
                .joined(separator: "  ")
            while text.last == " " { text.removeLast() }
            return text + "\n"
        }.joined()
    }
}
