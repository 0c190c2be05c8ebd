import Scorebook

/// Aligns columns of text for a terminal. The last column is not padded.
///
/// - Parameter width: the columns of the terminal; see ``AlignedColumns``.
func aligned(_ texts: [[String]], to width: Int = .max) -> String {
    var columns = AlignedColumns(width: width)
    return columns.text(texts)
}

/// Aligns a column of words with a column of texts, which go on in further lines where the terminal ends.
///
/// - Parameters:
///   - rows: a word and a text each.
///   - indentation: the blanks before each line.
func alignedTexts(_ rows: [[String]], to width: Int, indentation: Int = 0) -> String {
    let rows = rows.map { $0.map { Display.printable($0) } }
    let edge = (rows.map { Display.width($0[0]) }.max() ?? 0) + 2 + indentation
    // A terminal that leaves no room for words wraps better itself.
    let room = width - edge < 20 ? Int.max : width - edge
    return rows.map { row in
        var lines = [""]
        for word in row[1].split(separator: " ", omittingEmptySubsequences: false) {
            let last = lines[lines.count - 1]
            let isFirst = last.isEmpty
            if !isFirst, Display.width(last) + 1 + Display.width(String(word)) > room {
                lines.append(String(word))
            } else {
                lines[lines.count - 1] += (isFirst ? "" : " ") + word
            }
        }
        let begin = String(repeating: " ", count: indentation) + row[0]
        return Display.padded(begin, to: edge, isRight: false)
            + lines.joined(separator: "\n" + String(repeating: " ", count: edge))
    }.joined(separator: "\n")
}

/// Columns of text that are aligned for a terminal, some rows at a time. The last column is not padded.
///
/// Names come from files and other machines, so this replaces characters that could steer the terminal.
///
/// If the rows are wider than the terminal, the widest cells are shortened, but no cell to less than 8 columns, and none of the
/// first and the last column, nor of a column of dates and numbers, whose beginnings say nothing. Later rows keep to the columns of the first ones, which only grow as far as there is room.
struct AlignedColumns {
    /// The columns of the terminal.
    let width: Int
    private var widths: [Int] = []
    /// The columns that have words below their title.
    private var wordy: Set<Int> = []
    private var hasTitles = false

    init(width: Int) {
        self.width = width
    }

    /// Aligns further rows.
    mutating func text(_ texts: [[String]]) -> String {
        let rows = texts.map { $0.map { Display.printable($0) } }
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], Display.width(cell))
                if hasTitles, cell.contains(where: { !"0123456789-:., ".contains($0) }) {
                    wordy.insert(column)
                }
            }
            hasTitles = true
        }
        shorten()
        return rows.map { row in
            row.enumerated().map { column, cell in
                let text = Display.shortened(cell, to: widths[column])
                return column == row.count - 1
                    ? text : Display.padded(text, to: widths[column] + 2, isRight: false)
            }.joined()
        }.joined(separator: "\n")
    }

    private mutating func shorten() {
        var excess = widths.reduce(0, +) + 2 * (widths.count - 1) - min(width, Int.max / 2)
        while excess > 0,
            let widest = widths.indices.dropFirst().dropLast().filter(wordy.contains).max(by: {
                widths[$0] < widths[$1]
            }),
            widths[widest] > 8
        {
            widths[widest] -= 1
            excess -= 1
        }
    }
}
