import Foundation
import TestSupport
import Testing

/// The engine serves any app: its sources have no command of the command line, and no word of a scorebook.
struct EngineWordsTests {
    private static let targets = [
        "PeerSyncModel", "PeerSyncChannel", "PeerSyncRules", "PeerSyncProtocol", "PeerSyncStore", "PeerSync",
    ]

    /// What stores and the wire hold, so that it stays as it is: one literal in a file.
    private static let constants = [
        "ZoneName.swift": #""ScorebookData""#, "Preamble.swift": #""scorebook-peer""#,
        "Pairing.swift": #""scorebook-peer pairing v1""#,
        "IdentityFile.swift": #""scorebook-peer identity 1 ""#,
    ]

    /// A word in a line of code, in a comment or in a text that only this app has.
    private static func foreignWord(_ line: String) -> String? {
        let whole = NSRange(line.startIndex..., in: line)
        if let word = words.firstMatch(in: line, range: whole) { return text(of: word, in: line) }
        let texts = quotes.matches(in: line, range: whole).lazy.map(\.range)
        return texts.compactMap { signs.firstMatch(in: line, range: $0) }.first.map { text(of: $0, in: line) }
    }

    private static let words = expression(#"(?i:scorebook|picture|\bgames?\b)|\bSB[A-Z][a-z]+"#)
    private static let quotes = expression(#""(?:[^"\\]|\\.)*""#)
    /// Texts for people have no backticks but around commands, and no hyphens but before options.
    private static let signs = expression(#"`.*`?|(?:^|\W)--[a-z]+"#)

    /// Swift's own expressions take sixty times as long on all lines of the engine.
    private static func expression(_ pattern: String) -> NSRegularExpression {
        try! NSRegularExpression(pattern: pattern)
    }

    private static func text(of match: NSTextCheckingResult, in line: String) -> String {
        Range(match.range, in: line).map { String(line[$0]) } ?? ""
    }

    @Test(arguments: targets) func noSourceHasTheWordsOfTheApp(target: String) throws {
        let folder = Repository.root.appendingPathComponent("Sources/\(target)")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        #expect(!files.isEmpty)
        for file in files {
            var text = try String(contentsOf: file, encoding: .utf8)
            if let constant = Self.constants[file.lastPathComponent] {
                #expect(text.ranges(of: constant).count == 1, "\(file.lastPathComponent) has no \(constant)")
                text.replace(constant, with: "")
            }
            for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let word = Self.foreignWord(String(line))
                #expect(word == nil, "\(file.lastPathComponent):\(number + 1)")
            }
        }
    }

    @Test(arguments: [
        #"throw ProtocolError(.notPaired, "not paired: run `scorebook-peer listen`")"#,
        #""this store has no zone; `zone list` shows those there are""#,
        #"                    + "--allow-reset` there")"#, #""start it with --merge""#,
        #""the two scorebooks differ""#, "/// One Scorebook among others.",
        "        -- The pictures of a record.",
        #""it looks like SBGame|~|<uuid>""#, "/// The record of a game.",
    ])
    func wordsOfTheAppAreFound(line: String) { #expect(Self.foreignWord(line) != nil) }

    @Test(arguments: [
        #"throw ProtocolError(.notPaired, "the two machines are not paired")"#,
        "/// Asks `Session` for the next request, which `--` ends.", #"line.firstRange(of: "--")"#,
        "        -- The zones of this store.", "guard expected.matches(tag) else {",
    ])
    func otherWordsAreFine(line: String) { #expect(Self.foreignWord(line) == nil) }
}
