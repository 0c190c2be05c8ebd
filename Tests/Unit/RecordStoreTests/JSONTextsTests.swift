import Foundation
import GRDB
import TestSupport
import Testing

@testable import PeerSyncStore

/// The journal's arrays are read as Foundation reads them, whatever is in the texts.
struct JSONTextsTests {
    private static let pieces = [
        "a", "t", "\"", "\\", "/", "\n", "\r", "\t", "\u{8}", "\u{C}", "\u{1}", "\u{1F}", "\u{7F}", "ä", "€",
        "😀", "[", "]", ",",
        "null", "u0041", "",
    ]

    @Test func whatSQLiteWritesIsRead() throws {
        var random = SeededGenerator(seed: 7)
        let database = try DatabaseQueue()
        for _ in 0..<500 {
            let texts: [String?] = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                random.oneIn(5)
                    ? nil
                    : (0..<Int.random(in: 0...5, using: &random)).map { _ in
                        Self.pieces.randomElement(using: &random)!
                    }.joined()
            }
            let marks = texts.map { _ in "?" }.joined(separator: ", ")
            let json = try #require(
                try database.read {
                    try String.fetchOne(
                        $0, sql: "SELECT json_array(\(marks))", arguments: StatementArguments(texts))
                })
            let read = try #require(JSONTexts.read(json))
            #expect(read.map { $0.map { Array($0.utf8) } } == texts.map { $0.map { Array($0.utf8) } })
            #expect(try JSONDecoder().decode([String?].self, from: Data(json.utf8)) == texts)
        }
    }

    @Test(arguments: [
        ("[\"\\u0000\\u0041\"]", "\0A"), ("[\"\\\"\\\\\\b\\f\\n\\r\\t\"]", "\"\\\u{8}\u{C}\n\r\t"),
    ])
    func whatIsEscapedIsRead(_ json: String, _ text: String) { #expect(JSONTexts.read(json) == [text]) }

    /// Foundation then decides about it.
    @Test(arguments: [
        "", "[", "[\"a\"", "[\"a]", "[\"a\"]x", "[1]", "[\"a\",]", "[nul]", "[\"\\u0080\"]", "[\"\\u00+1\"]",
        "[\"\\u01\"]",
        "[\"\\x\"]", "[\"a\nb\"]", "[\"\\", " [\"a\"]", "[\"\\ud83d\\ude00\"]",
    ])
    func anythingElseIsNot(_ json: String) { #expect(JSONTexts.read(json) == nil) }
}
