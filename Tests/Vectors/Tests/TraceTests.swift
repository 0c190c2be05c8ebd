import Foundation
import NIOCore
import PeerSyncModel
import PeerSyncProtocol
import ProtocolVectors
import TestSupport
import Testing

/// The trace in protocol.md section 7 is the first session of sessions.json, written short.
struct TraceTests {
    private struct File: Decodable {
        struct Case: Decodable {
            let title: String
            let caller: Side
            let conversation: [Entry]
        }
        struct Side: Decodable { let `static`: Hex }
        struct Entry: Decodable {
            let from: String?
            let bytes: Hex?
            let at: String?
            let writes: [Record]?
        }
        struct Record: Decodable { let name: String }
        let cases: [Case]
    }

    @Test func theTraceIsTheFirstSession() throws {
        let file: File = try Repository.vector("sessions.json")
        let session = try #require(file.cases.first { $0.title == "first copy" })
        let owner = ReplicaID(hashing: session.caller.static.bytes)
        let expected = try session.conversation.map { entry in
            if let at = entry.at {
                let names = try (entry.writes ?? []).map { Self.short(try RecordName($0.name)) }
                return "\(at) | (writes \(names.joined(separator: ", ")))"
            }
            var bytes = ByteBuffer(bytes: entry.bytes?.bytes ?? [])
            let message = try #require(
                try MessageCodec.decode(&bytes, limit: ProtocolLimits.maximumMessage))
            return "\(entry.from ?? "") | \(Self.short(message, callersOwner: owner))"
        }
        #expect(try Self.trace() == expected)
    }

    /// The second and third column of the table.
    private static func trace() throws -> [String] {
        let url = Repository.root.appendingPathComponent("Protocol/protocol.md")
        let text = try String(contentsOf: url, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "**A trace.**").dropFirst().first)
        let table = try #require(section.components(separatedBy: "### 7.1").first)
        return table.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2).map { row in
            row.split(separator: "|").dropFirst().prefix(2).map { $0.trimmingCharacters(in: .whitespaces) }
                .joined(separator: " | ")
        }
    }

    // MARK: Writing short

    /// The sequence of a token, behind a letter for the store that gave it out.
    private static func short(_ token: ChangeToken?) -> String {
        guard let token else { return "none" }
        guard token != .start else { return "start" }
        return "\(token.generation[0] == 0xCA ? "C" : "L")\(token.sequence)"
    }

    private static func short(_ name: RecordName) -> String { "\(name.recordType) \(name.suffix)" }

    private static func short(_ message: Message, callersOwner owner: ReplicaID) -> String {
        func zone(_ id: ZoneID) -> String { "zone \(id.owner == owner ? "C" : "L")" }
        func join(_ parts: [String?]) -> String { parts.compactMap(\.self).joined(separator: ", ") }
        switch message {
        case .hello(let hello):
            return join(
                hello.zones.map { offer in
                    join([
                        "hello: \(zone(offer.id))", offer.isDefault ? "default" : nil,
                        offer.isShared ? "shared" : nil, "\(offer.rights)", "\(offer.recordCount) records",
                    ])
                })
        case .open(let open):
            let zones = open.zones.map { "\(zone($0.id)): \(short($0.received))" }
            return "open: union \(open.union.rawValue); \(join(zones))"
        case .begin(let begin):
            return "begin: "
                + join([
                    begin.isHeldTokenVoid ? "void" : nil, begin.isWholeCopy ? "whole copy" : nil,
                    "\(begin.recordCount) records",
                ])
        case .assetsWanted(let wanted): return "assetsWanted: \(wanted.files) files"
        case .batch(_, let batch):
            let records = batch.records.map { "\(short($0.name))\($0.isDeleted ? " (deleted)" : "")" }
            let kind = "\(batch.isLoose ? "loose " : "")batch to \(short(batch.token))"
            return "\(kind)\(batch.isLast ? ", last" : ""): \(records.isEmpty ? "no records" : join(records))"
        case .acknowledge(_, let token): return "acknowledge \(short(token))"
        case .digest(_, let summary):
            return "digest: "
                + join([
                    "current \(short(summary.current))", "received \(short(summary.received))",
                    "\(summary.digest.count) records",
                ])
        case .goodbye: return "goodbye"
        default: return "\(message)"
        }
    }
}
