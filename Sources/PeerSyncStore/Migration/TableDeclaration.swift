import PeerSyncModel

/// The statement that created a table, with changes to some of its columns. All else stays as its author wrote it, comments
/// included.
struct TableDeclaration {
    private let original: [UInt8]
    private let tokens: [SQLToken]
    /// The declarations of columns and the constraints of the table, each without the comma.
    private let items: [ArraySlice<SQLToken>]
    private var edits: [(range: Range<Int>, text: String)] = []

    /// With these words begins a constraint of the table. SQLite takes none of them for a name without quotation marks.
    private static let tableConstraints = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"]
    /// With these words the type of a column ends.
    private static let columnConstraints = [
        "CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "AS",
    ]

    /// Reads a statement as SQLite keeps it in `sqlite_master`; nil when it has another form.
    init?(_ sql: String) {
        original = Array(sql.utf8)
        guard let tokens = SQLToken.tokens(of: original),
            let begin = tokens.firstIndex(where: { $0.isSign("(") }),
            let end = tokens[begin...].firstIndex(where: { $0.depth == 0 && $0.isSign(")") })
        else { return nil }
        self.tokens = tokens
        items = tokens[(begin + 1)..<end].split { $0.depth == 1 && $0.isSign(",") }
    }

    /// The statement with all changes.
    var sql: String {
        var output: [UInt8] = []
        var position = 0
        for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            for part in [original[position..<edit.range.lowerBound], Array(edit.text.utf8)[...]] {
                Self.append(part, to: &output)
            }
            position = edit.range.upperBound
        }
        Self.append(original[position...], to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Puts a blank between two parts that would otherwise become one word.
    private static func append(_ part: ArraySlice<UInt8>, to output: inout [UInt8]) {
        func isApart(_ byte: UInt8) -> Bool { " \t\n\u{0C}\r(,)".utf8.contains(byte) }
        if let last = output.last, let next = part.first, !isApart(last), !isApart(next) {
            output.append(UInt8(ascii: " "))
        }
        output += part
    }

    // MARK: Columns

    /// Declares a column with another type. No column can count up any more: only numbers can.
    ///
    /// - Parameters:
    ///   - type: the type, and constraints to stand right behind it.
    ///   - defaultSQL: the expression that replaces the one after `DEFAULT`; it has no effect on a column without `DEFAULT`.
    /// - Returns: whether the statement declares the column.
    mutating func setType(of column: String, to type: String, defaultSQL: String? = nil) -> Bool {
        guard let item = items.first(where: { !Self.isTableConstraint($0) && $0.first!.isName(column) })
        else { return false }
        let former = item.dropFirst().prefix { token in
            token.depth > 1 || !Self.columnConstraints.contains(where: token.isWord)
        }
        if let first = former.first, let last = former.last {
            edits.append((first.range.lowerBound..<last.range.upperBound, type))
        } else {
            let end = item.first!.range.upperBound
            edits.append((end..<end, type))
        }
        if let defaultSQL, let range = Self.rangeOfDefault(in: item) { edits.append((range, defaultSQL)) }
        return true
    }

    /// Takes AUTOINCREMENT out, which may stand at the column or in a constraint of the table.
    mutating func removeAutoincrement() {
        for token in items.joined() where token.isWord("AUTOINCREMENT") { edits.append((token.range, "")) }
    }

    /// Whether a column of the declaration has a DEFAULT.
    func hasDefault(_ column: String) -> Bool {
        items.contains {
            !Self.isTableConstraint($0) && $0.first!.isName(column) && Self.rangeOfDefault(in: $0) != nil
        }
    }

    /// The name of a generated column that follows from another column; nil when none does.
    func generatedColumn(from column: String) -> String? {
        let generated = items.first { item in
            guard !Self.isTableConstraint(item),
                let start = item.indices.dropFirst().first(where: {
                    item[$0].depth == 1 && item[$0].isWord("AS")
                })
            else { return false }
            let expression = item[(start + 2)...].prefix { $0.depth > 1 }
            return expression.indices.contains { index in
                // A function may have the name of a column.
                expression[index].isName(column) && !expression[index].isLiteral
                    && !item[index + 1].isSign("(")
            }
        }
        return generated?.first?.text
    }

    private static func isTableConstraint(_ item: ArraySlice<SQLToken>) -> Bool {
        tableConstraints.contains(where: item.first!.isWord)
    }

    /// Where the value of a column's DEFAULT stands.
    private static func rangeOfDefault(in item: ArraySlice<SQLToken>) -> Range<Int>? {
        let index = item.indices.dropFirst().first { index in
            // Not `ON DELETE SET DEFAULT`.
            item[index].depth == 1 && item[index].isWord("DEFAULT") && !item[index - 1].isWord("SET")
        }
        guard let index, let first = item[(index + 1)...].first else { return nil }
        var last = first
        if first.isSign("("), let end = item[(index + 2)...].first(where: { $0.depth == 1 }) { last = end }
        if first.isSign("-") || first.isSign("+"), let number = item[(index + 2)...].first { last = number }
        return first.range.lowerBound..<last.range.upperBound
    }

    // MARK: UNIQUE

    /// Takes out each UNIQUE on exactly these columns, with its name and its ON CONFLICT.
    mutating func removeUnique(on columns: [String]) {
        for item in items {
            for index in item.indices where item[index].depth == 1 && item[index].isWord("UNIQUE") {
                var end = index + 1
                var names: [SQLToken] = []
                if Self.isTableConstraint(item) {
                    let list = item[end...].dropFirst().prefix { $0.depth > 1 }
                    names = list.split { $0.depth == 2 && $0.isSign(",") }.map { $0.first! }
                    end = list.endIndex + 1
                } else {
                    names = [item.first!]
                }
                guard Self.isSame(names, columns) else { continue }
                if end < item.endIndex, item[end].isWord("ON") { end += 3 }
                let isNamed = index - 2 >= item.startIndex && item[index - 2].isWord("CONSTRAINT")
                remove(item[(isNamed ? index - 2 : index)..<end], of: item)
            }
        }
    }

    private mutating func remove(_ constraint: ArraySlice<SQLToken>, of item: ArraySlice<SQLToken>) {
        edits.append((constraint.first!.range.lowerBound..<constraint.last!.range.upperBound, ""))
        // A constraint of the table never comes first. SQLite also takes several of them without commas between.
        guard constraint.count == item.count else { return }
        edits.append((tokens[constraint.startIndex - 1].range, ""))
    }

    private static func isSame(_ names: [SQLToken], _ columns: [String]) -> Bool {
        names.count == columns.count
            && columns.allSatisfy { column in names.contains { $0.isName(column) } }
    }
}
