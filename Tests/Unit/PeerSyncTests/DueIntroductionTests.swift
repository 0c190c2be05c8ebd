import GRDB
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore
import Testing

@testable import PeerSync

/// Whoever types a code introduces the other machine to the household, as soon as the two have agreed on zones: in the session
/// in which they were paired, or in a later one.
struct DueIntroductionTests {
    /// What a machine still has to introduce, and whom it knows as a member besides itself.
    private struct Introductions: Equatable, CustomStringConvertible {
        let due: [String]
        let members: [String]

        init(due: [String] = [], members: [String] = []) {
            self.due = due
            self.members = members
        }

        init(of machine: LoopbackMachine) async throws {
            let store = machine.engine.store
            due = try await store.database.read {
                try String.fetchAll(
                    $0, sql: "SELECT name FROM grdb_sync_dueIntroduction JOIN grdb_sync_peer ON peer = id")
            }
            members = try await store.household.members().filter { $0.relation != .own }.map(\.name)
        }

        var description: String { "due \(due), members \(members)" }
    }

    /// The study types the kitchen's code.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var welcome: Welcome?
        /// Whether the first session ends before the two agree on zones.
        var isRefusedFirst = false
        /// What the two have in common in the end.
        var isHousehold = true
    }

    private static let rows = [
        Row(testDescription: "everything at once"),
        Row(testDescription: "refused at first", isRefusedFirst: true),
        Row(testDescription: "for reading", welcome: Welcome(.read)),
        Row(testDescription: "for reading, refused at first", welcome: Welcome(.read), isRefusedFirst: true),
        Row(testDescription: "a zone only", welcome: Welcome(.write, in: "Club"), isHousehold: false),
    ]

    @Test(.timeLimit(.minutes(5)), arguments: rows) func whoTypesACodeIntroducesOnce(row: Row) async throws {
        let (kitchen, study) = (
            try LoopbackMachine("kitchen", decide: { _ in .cancel }), try LoopbackMachine("study")
        )
        _ = try await kitchen.engine.store.zones.create("Club")
        try await kitchen.listening { port in
            let code = try await kitchen.engine.pairing.show(for: row.welcome).code
            if row.isRefusedFirst {
                let refused = SessionCall(pairing: .ifUnknown(code), isOnce: true, union: .replaceListener)
                await #expect(throws: PeerSyncError.self) { try await study.call(port, refused) }
                // Both know each other. Only the study owes anything.
                #expect(try await Introductions(of: study) == Introductions(due: ["kitchen"]))
                #expect(try await Introductions(of: kitchen) == Introductions(members: ["study"]))
            }
            for _ in 1...2 {
                try await study.call(port, SessionCall(pairing: .ifUnknown(code), isOnce: true))
                #expect(
                    try await Introductions(of: study)
                        == Introductions(members: row.isHousehold ? ["kitchen"] : []))
                #expect(
                    try await Introductions(of: kitchen)
                        == Introductions(members: row.isHousehold ? ["study"] : []))
            }
        }
    }
}
