import Foundation
import GRDB
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore

/// Two machines that meet repeatedly. Any of their sessions can become a vector.
final class SessionScene {
    let kitchen: SessionMachine
    let attic: SessionMachine
    private let tokens = SessionTokens()

    /// - Parameter directory: the directory of the stores and their backups; without it the stores are in memory.
    init(in directory: URL? = nil) throws {
        kitchen = try SessionMachine(
            "kitchen", VectorKeys.caller, tag: 0xCA, in: try directory?.subfolder("kitchen"))
        attic = try SessionMachine(
            "attic", VectorKeys.listener, tag: 0xA7, in: try directory?.subfolder("attic"))
        // Their stores must know each other before the first session.
        for (one, other) in [(kitchen, attic), (attic, kitchen)] { _ = try one.peer(other) }
    }

    /// Lets the attic call the kitchen. The session becomes no vector; only its results matter.
    func callFromAttic(_ wish: RecordedWish) async throws {
        try await RecordedSession(attic, kitchen, tokens).run(wish)
    }

    /// Lets the kitchen call the attic.
    ///
    /// - Parameter error: the error that ends the session before the exchange, if any.
    /// - Returns: the session, with the stores before and after.
    @discardableResult
    func session(
        _ title: String, _ why: String, _ wish: RecordedWish = RecordedWish(), _ steps: [SessionStep] = [],
        endsWith error: ProtocolError.Code? = nil
    ) async throws -> JSON {
        let machines = [(kitchen, attic), (attic, kitchen)]
        // A program that has numbered changes before would go on with its generation.
        for (machine, _) in machines { try machine.restart() }
        let before = try machines.map { try $0.0.describe(with: $0.1, tokens) }
        let added = machines.map { tokens.added(by: $0.0).count }
        let session = try RecordedSession(kitchen, attic, tokens)
        do {
            try await session.run(wish, steps)
            precondition(error == nil, "\(title): the session is to end with an error")
        } catch let end as ProtocolError where end.code == error {}
        let after = try machines.map { try $0.0.describe(with: $0.1, tokens) }
        let sides = machines.indices.map { index -> JSON in
            let machine = machines[index].0
            let drawn = tokens.added(by: machine).dropFirst(added[index])
            return .object(
                [
                    ("staticSecret", .secret(machine.keyPair)),
                    ("static", .hex(machine.keyPair.publicKey.bytes)),
                    ("displayName", .string(machine.name)),
                    ("instance", .digits(machine.instance)),
                    ("generations", .array(drawn.map { .hex($0) })),
                    ("before", before[index]), ("after", after[index]),
                ])
        }
        return .object([
            ("title", .string(title)), ("why", .string(why)), ("wish", wish.json),
            ("caller", sides[0]), ("listener", sides[1]),
            ("conversation", .array(session.entries.map(JSON.entry))),
        ])
    }
}

extension URL {
    /// Creates a new folder in this one.
    fileprivate func subfolder(_ name: String) throws -> URL {
        let folder = appendingPathComponent(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}

extension RecordedWish {
    fileprivate var json: JSON {
        [
            "union": .optional(union) { .number(Int($0.rawValue)) }, "startOver": .bool(startsOver),
            "compareEverything": .bool(comparesEverything), "allows": allows,
        ]
    }

    /// The answer of the listener's user.
    private var allows: JSON {
        switch answer {
        case .nobody: .null
        case .cancel: false
        case .union: true
        }
    }
}

extension JSON {
    fileprivate static func entry(_ entry: RecordedSession.Entry) -> JSON {
        switch entry {
        case .message(let isFromCaller, let cause, let message):
            [
                "from": isFromCaller ? "caller" : "listener", "on": .optional(cause, JSON.number),
                "bytes": .parts(message.encoded), "message": .message(message),
            ]
        case .writes(let isAtCaller, let states):
            ["at": isAtCaller ? "caller" : "listener", "writes": .array(states.map(JSON.state))]
        }
    }
}

extension SessionMachine {
    /// The parts of the store that matter to a session with another machine.
    package func describe(with other: SessionMachine, _ tokens: SessionTokens) throws -> JSON {
        try tokens.look(at: self)
        let peer = try peer(other)
        return try read { db in
            let generations = try Row.fetchAll(
                db, sql: "SELECT id, firstSequence FROM grdb_sync_storeGeneration ORDER BY firstSequence")
            return [
                "lastNumber": .decimal(try integer(db, "lastSequence")),
                "greatestTime": .digits(UInt64(bitPattern: try integer(db, "clock"))),
                "generations": .array(
                    generations.map { row in
                        let generation = tokens.name(Array(row[0] as Data))
                        return ["generation": .hex(generation), "firstNumber": .decimal(row[1] as Int64)]
                    }),
                "zones": .array(try store.zones.all(db).map { try describe(db, $0, peer, tokens) }),
            ]
        }
    }

    fileprivate func integer(_ db: Database, _ name: String) throws -> Int64 {
        try Int64.fetchOne(db, sql: "SELECT value FROM grdb_sync_syncState WHERE name = ?", arguments: [name])
            ?? 0
    }

    fileprivate func describe(_ db: Database, _ zone: Zone, _ peer: Peer, _ tokens: SessionTokens) throws
        -> JSON
    {
        let row = try Int64.fetchOne(
            db, sql: "SELECT id FROM grdb_sync_recordZone WHERE zoneName = ? AND owner = ?",
            arguments: [zone.id.name.description, zone.id.owner.description])
        let link = try Row.fetchOne(
            db, sql: "SELECT * FROM grdb_sync_peerZone WHERE peer = ? AND zone = ?",
            arguments: [peer.id, row])
        let summary = try PeerZone(store: store, zone: .one(zone), peer: peer).summary(db)
        let refused = try Row.fetchAll(
            db,
            sql:
                "SELECT recordName, reason FROM grdb_sync_refusedRecord WHERE peer = ? AND zone = ? ORDER BY 1",
            arguments: [peer.id, row])
        let forgotten = try Int64.fetchOne(
            db, sql: "SELECT purgedSequence FROM grdb_sync_recordZone WHERE id = ?", arguments: [row])
        var records: [JSON] = []
        try store.listing.forEachState(db, zone: .one(zone)) { records.append(try describe(db, $0, peer)) }
        return .object(
            JSON.zone(zone.id) + [
                ("calledHere", .string(zone.name)), ("default", .bool(zone.isDefault)),
                ("shared", .bool(zone.isShared)),
                ("rights", .optional((link?["rights"] as Int64?)) { .number(Int($0)) }),
                ("received", .optional(summary.received) { .token(tokens.renamed($0)) }),
                ("acknowledged", .decimal(link?["acknowledgedSequence"] as Int64? ?? 0)),
                ("forgotten", .decimal(forgotten ?? 0)),
                (
                    "refused",
                    .array(
                        refused.map {
                            ["name": .string($0[0]), "reason": .number(Int($0[1] as Int64))]
                        })
                ),
                ("records", .array(records)),
            ])
    }

    fileprivate func describe(_ db: Database, _ state: RecordState, _ peer: Peer) throws -> JSON {
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT changeSequence, changeGroup, sourcePeer FROM grdb_sync_remoteRecord WHERE remoteRecordID = ?
                """, arguments: [state.name.description])
        guard let row else { preconditionFailure("\(state.name) is known, and has no number") }
        return [
            "number": .decimal(row[0] as Int64), "group": .decimal(row[1] as Int64),
            "fromPeer": .bool(row[2] as Int64? == peer.id), "state": .state(state),
        ]
    }
}
