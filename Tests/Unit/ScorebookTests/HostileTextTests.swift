import Foundation
import Scorebook
import Testing

/// Texts of others, in which a quotation mark, a comma or a percent sign is one character with a letter before it (U+0D4E) or an accent behind it
/// (U+0301): so nobody finds it who looks for characters.
@Suite struct HostileTextTests {
    private struct Written: Sendable, CustomStringConvertible {
        let text: String
        let expected: String

        init(_ text: String, as expected: String) {
            self.text = text
            self.expected = expected
        }

        var description: String { text }

        /// Swift takes texts for equal that have other bytes.
        func isWritten(_ text: String) -> Bool { text.utf8.elementsEqual(expected.utf8) }
    }

    private static let words = [
        Written("kitchen", as: "kitchen"),
        Written("192.168.1.20:7431", as: "192.168.1.20:7431"),
        Written("/a_b/c-d", as: "/a_b/c-d"),
        Written("", as: "''"),
        Written("Kim's", as: "'Kim'\\''s'"),
        Written("a\\'; b", as: "'a'\\\\''\\''; b'"),
        Written("[::1]", as: "'[::1]'"),
        Written("$(touch x)", as: "'$(touch x)'"),
        Written("Küche", as: "'Küche'"),
        Written("Kim\u{0D4E}'; touch x; '\u{0301}", as: "'Kim\u{0D4E}'\\''; touch x; '\\''\u{0301}'"),
    ]

    private static let cells = [
        Written("plain", as: "plain"),
        Written("", as: ""),
        Written("a, b", as: "\"a, b\""),
        Written("a\n=1+1", as: "\"a\n=1+1\""),
        Written("a\r\n=1+1", as: "\"a\r\n=1+1\""),
        Written("\u{0D4E},=1+1", as: "\"\u{0D4E},=1+1\""),
        Written("x\"\u{0301},=cmd", as: "\"x\"\"\u{0301},=cmd\""),
        Written("=1+1", as: "'=1+1"),
        Written("=\u{0301}1", as: "'=\u{0301}1"),
        Written("-2+3+cmd|' /C calc'!A0", as: "'-2+3+cmd|' /C calc'!A0"),
        Written("+1+1", as: "'+1+1"),
        Written("@A1", as: "'@A1"),
        Written("＝1+1", as: "'＝1+1"),
        Written("＋1+1", as: "'＋1+1"),
        Written("－1+1", as: "'－1+1"),
        Written("＠A1", as: "'＠A1"),
        Written("＝", as: "＝"),
        Written("\t=1", as: "'\t=1"),
        Written("\r=1", as: "\"'\r=1\""),
        Written("-5 -3", as: "'-5 -3"),
        Written("-5", as: "-5"),
        Written("+5.25e-3", as: "+5.25e-3"),
        Written("-", as: "-"),
    ]

    @Test func aWordOfAShellIsOneWord() {
        for word in Self.words {
            let written = ShellWord.quoted(word.text)
            #expect(word.isWritten(written), "\(word): \(written)")
        }
    }

    @Test func aCellIsOneCellAndNoFormula() {
        for cell in Self.cells {
            let written = CSVText.line([cell.text])
            #expect(cell.isWritten(written), "\(cell): \(written)")
        }
    }

    @Test func jsonThatSteersATerminalIsEscapedAndSaysTheSame() throws {
        let names = ["\u{7F}\u{9B}31m", "\u{2028}\u{202E}\u{2066}", "Küche"]
        let json = String(decoding: try JSONEncoder().encode(names), as: UTF8.self)
        let shown = Display.printable(json: json)
        #expect(shown == #"["\u007f\u009b31m","\u2028\u202e\u2066","Küche"]"#, "\(shown)")
        #expect(try JSONDecoder().decode([String].self, from: Data(shown.utf8)) == names)
    }

    @Test func anExportSteersNoTerminal() async throws {
        let scorebook = try Support.scorebook()
        let name = "a\u{9B}\u{202E}b\u{1F3B2}"
        try await scorebook.execute("INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|a', '\(name)')")
        let file = String(decoding: try await scorebook.exportData(), as: UTF8.self)
        #expect(file.contains("\"a\\u009b\\u202eb\u{1F3B2}\""), "\(file)")
        let copy = try Support.scorebook(2)
        _ = try await copy.importData(Data(file.utf8))
        #expect(try await copy.games().map(\.game.name) == [name])
    }

    @Test func aSearchTakesNoSignOfItsQueryFromAText() async throws {
        let scorebook = try Support.scorebook()
        try await scorebook.addGame(NewGame(name: "Catan"))
        #expect(try await scorebook.search("Catan\u{0D4E}\" OR x").isEmpty)
        #expect(try await scorebook.search("Catan").count == 1)
    }
}
