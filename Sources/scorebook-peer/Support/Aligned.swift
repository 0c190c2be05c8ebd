import Scorebook

/// Aligns columns of text for a terminal. The last column is not padded.
///
/// Names come from files and other machines, so this replaces characters that could steer the terminal.
///
/// - Parameter width: the columns of the terminal. If the rows are wider, the widest cells are shortened, but no cell to less
///   than 8 columns, and none of the first and the last column.
func aligned(_ texts: [[String]], to width: Int = .max) -> String {
    let rows = texts.map { $0.map { Display.printable($0) } }
    var widths: [Int] = []
    for row in rows {
        for (column, cell) in row.enumerated() {
            if column == widths.count { widths.append(0) }
            widths[column] = max(widths[column], Display.width(cell))
        }
    }
    var excess = widths.reduce(0, +) + 2 * (widths.count - 1) - min(width, Int.max / 2)
    while excess > 0, let widest = widths.indices.dropFirst().dropLast().max(by: { widths[$0] < widths[$1] }),
        widths[widest] > 8
    {
        widths[widest] -= 1
        excess -= 1
    }
    return rows.map { row in
        row.enumerated().map { column, cell in
            let text = Display.shortened(cell, to: widths[column])
            return column == row.count - 1
                ? text : Display.padded(text, to: widths[column] + 2, isRight: false)
        }.joined()
    }.joined(separator: "\n")
}
