import Foundation
import TestSupport
import Testing

/// Somebody has decided for each code of an error what it means to the user. The compiler does not ask for it, because a
/// code is no enum: the default of a switch would take a new one silently.
struct ErrorCodeTests {
    struct Switch: CustomTestStringConvertible {
        /// The file that declares the codes.
        let codes: String
        /// The file of the function with the switch, and what the function begins with.
        let file: String
        let function: String

        var testDescription: String { "\(file): \(function)" }
    }

    private static let exitCodes = "scorebook-peer/Support/ExitCodes.swift"

    @Test(arguments: [
        Switch(
            codes: "PeerSync/Engine/PeerSyncError.swift", file: exitCodes,
            function: "code(_ code: PeerSyncError.Code)"),
        Switch(
            codes: "PeerSyncStore/RecordStoreError.swift", file: exitCodes,
            function: "code(_ code: RecordStoreError.Code)"),
        Switch(
            codes: "Scorebook/ScorebookError.swift", file: exitCodes,
            function: "code(_ code: ScorebookError.Code)"),
        Switch(
            codes: "PeerSyncMailbox/Storage/MailboxError.swift", file: exitCodes,
            function: "code(_ code: MailboxError.Code)"),
        Switch(
            codes: "PeerSyncProtocol/ProtocolError.swift", file: "PeerSync/Sessions/SessionFailures.swift",
            function: "init(_ error: ProtocolError)"),
        Switch(
            codes: "PeerSyncStore/RecordStoreError.swift", file: "PeerSync/Sessions/SessionFailures.swift",
            function: "var meaning: Meaning"),
        Switch(
            codes: "PeerSync/Engine/PeerSyncError.swift", file: "PeerSync/Engine/PeerSyncError.swift",
            function: "var isTransient: Bool"),
        Switch(
            codes: "PeerSyncMailbox/Storage/MailboxError.swift",
            file: "PeerSyncMailbox/Storage/MailboxError.swift", function: "var isTransient: Bool"),
        Switch(
            codes: "PeerSync/Engine/PeerSyncError.swift", file: "PeerSync/Reach/Reconnection.swift",
            function: "var isStanding: Bool"),
        Switch(
            codes: "PeerSync/Engine/PeerSyncError.swift", file: "PeerSync/Diagnosis/PeerChecks.swift",
            function: "func isOutdatedByAnswer"),
        Switch(
            codes: "PeerSyncStore/RecordStoreError.swift", file: "PeerSyncMailbox/Exchange/MailboxPass.swift",
            function: "var codeOfPeer: MailboxError.Code?"),
    ])
    func everyCodeHasItsCase(_ decision: Switch) throws {
        let codes = try Self.source(decision.codes).matches(of: /static let (\w+) = Code\(/).map(\.1)
        #expect(codes.count > 5)
        let function = try Self.function(decision.function, in: decision.file)
        let cases = function.matches(of: /case ((?:\.\w+[,\s]*)+):/).flatMap {
            $0.1.matches(of: /\w+/).map(\.0)
        }
        #expect(codes.filter { !cases.contains($0) } == [])
    }

    /// Whichever part of the program reports it. Some names stand for several causes: what a machine may not do, and what no store lets
    /// go; rights that have changed, and a list from which somebody decides; storage, and a scorebook.
    @Test func oneCauseHasOneExitCode() throws {
        var exits: [Substring: Set<Substring>] = [:]
        for type in ["PeerSyncError", "RecordStoreError", "ScorebookError", "MailboxError"] {
            let function = try Self.function("code(_ code: \(type).Code)", in: Self.exitCodes)
            for group in function.matches(of: /case ((?:\.\w+[,\s]*)+):\s*\.(\w+)/) {
                for name in group.1.matches(of: /\w+/) { exits[name.0, default: []].insert(group.2) }
            }
        }
        #expect(exits.count > 50)
        #expect(
            exits.filter { $0.value.count > 1 }.keys.sorted() == ["notPermitted", "readOnly", "zonesChanged"])
    }

    private static func function(_ name: String, in file: String) throws -> String {
        let parts = try source(file).components(separatedBy: name)
        return try #require(parts.count == 2 ? parts[1].components(separatedBy: "\n    }\n").first : nil)
    }

    private static func source(_ path: String) throws -> String {
        try String(contentsOf: Repository.root.appendingPathComponent("Sources/\(path)"), encoding: .utf8)
    }
}
