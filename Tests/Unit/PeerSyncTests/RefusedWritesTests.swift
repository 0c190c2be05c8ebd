import GRDB
import PeerSyncModel
import PeerSyncStore
import Scorebook
import Testing

@testable import PeerSync
@testable import PeerSyncProtocol

/// What a machine writes that may only read is kept there, told, and taken as soon as it may write.
@Suite(.timeLimit(.minutes(5))) struct RefusedWritesTests {
    private let owner: LoopbackMachine
    private let reader: LoopbackMachine

    init() async throws {
        owner = try LoopbackMachine("owner")
        reader = try LoopbackMachine("reader")
        for (machine, other, name) in [(owner, reader, "reader"), (reader, owner, "owner")] {
            let key = other.engine.identity.publicKey.bytes
            _ = try await machine.engine.store.peers.add(key: key, name: name)
        }
        try await add("Catan", to: owner)
        try await sync()
    }

    private func add(_ game: String, to machine: LoopbackMachine) async throws {
        try await machine.engine.store.write { db in
            try db.execute(
                sql: "INSERT INTO SBGame (recordName, name) VALUES (?, ?)",
                arguments: ["SBGame|~|\(game)", game])
        }
    }

    private func games(_ machine: LoopbackMachine) async throws -> [String] {
        try await machine.engine.store.database.read { db in
            try String.fetchAll(db, sql: "SELECT name FROM SBGame ORDER BY name")
        }
    }

    private func sync() async throws {
        try await owner.listening { port in try await reader.call(port, SessionCall(isOnce: true)) }
    }

    private func refused() async throws -> [String] {
        try await reader.engine.store.refusals.all().map(\.name.description)
    }

    private func isInSync() async throws -> Bool {
        let digests = try await [owner, reader].asyncMap { machine in
            try await machine.engine.store.zones.all()[0].digest
        }
        return digests[0] == digests[1]
    }

    /// Otherwise nobody would be warned that no machine takes what is written there.
    @Test func aZoneThatIsNotSharedAnyMoreGivesNoRights() async throws {
        let store = reader.engine.store
        let club = try await owner.engine.store.zones.create("club")
        try await owner.engine.store.zones.grant(.write, to: "reader", in: "club")
        try await sync()
        let taken = try await store.zones.find(named: club.name)
        func sharing() async throws -> [String] {
            try await store.database.read { try store.zones.machinesSharing($0, taken) }
        }
        #expect(try await sharing() == ["owner"])
        try await owner.engine.store.zones.grant(.none, to: "reader", in: "club")
        try await sync()
        #expect(try await sharing().isEmpty)
        let shared = try await store.database.read {
            try store.zones.machinesSharing($0, store.zones.all($0)[0])
        }
        #expect(shared == ["owner"])
    }

    @Test func whatWasRefusedIsTakenWhenItMayBe() async throws {
        try await owner.engine.store.zones.grant(.read, to: "reader", in: "ScorebookData")
        try await add("Scythe", to: reader)
        // The two are in sync but for that, each time.
        for _ in 0..<2 {
            try await sync()
            #expect(try await games(owner) == ["Catan"])
            #expect(try await games(reader) == ["Catan", "Scythe"])
            #expect(try await refused() == ["SBGame|~|Scythe"])
        }
        let told = reader.events.compactMap { event -> [RecordName]? in
            if case .peerRefusedRecords(_, let names, .readOnly) = event { names } else { nil }
        }
        // Who may not write sends it once.
        #expect(told.map { $0.map(\.description) } == [["SBGame|~|Scythe"]])

        try await owner.engine.store.zones.grant(.write, to: "reader", in: "ScorebookData")
        try await sync()
        #expect(try await games(owner) == ["Catan", "Scythe"])
        #expect(try await refused().isEmpty)
        #expect(try await isInSync())
    }
}

extension Array {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { try await values.append(transform(element)) }
        return values
    }
}
