import Foundation
import GRDB
import PeerSync
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore
import ProtocolVectors
import TestSupport
import Testing

/// The tables of protocol.md 7.12, cell by cell: what two default zones that meet become, and who says no.
struct UnionTests {
    /// What a side does, as the table calls it.
    enum Part: Sendable { case keeps, takesUpBeside, givesUp }

    struct Case: Sendable, CustomTestStringConvertible {
        let union: ZoneUnion
        let caller: Part
        let listener: Part

        var testDescription: String { "\(union)" }
    }

    static let cases = [
        Case(union: .merge, caller: .keeps, listener: .keeps),
        Case(union: .beside, caller: .takesUpBeside, listener: .keeps),
        Case(union: .replaceCaller, caller: .givesUp, listener: .keeps),
        Case(union: .replaceListener, caller: .keeps, listener: .givesUp),
    ]

    @Test(arguments: cases) func eachSideDoesWhatTheTableSays(_ union: Case) async throws {
        try await withTwo { kitchen, attic in
            for side in [kitchen, attic] {
                try side.write("own")
                try await side.sync()
                try await side.haveOneRefused()
                try side.leaveAStreamUnfinished()
            }
            for (side, other) in [(kitchen, attic), (attic, kitchen)] { try side.noteToken(of: other) }
            let before = (try kitchen.defaultZone(), try attic.defaultZone())
            let target = target(of: union.union, before.0, before.1)
            let session = try RecordedSession(kitchen.machine, attic.machine)
            try await session.run(RecordedWish(union: union.union, answer: .union(union.union)))
            try kitchen.expect(union.caller, was: before.0, target, Said(session, ofCaller: true), attic)
            try attic.expect(union.listener, was: before.1, target, Said(session, ofCaller: false), kitchen)
        }
    }

    /// Its number goes with what it was about; nobody can ask for what is gone.
    @Test(arguments: cases) func onlyWhoGivesUpForgetsWhatItHadForgotten(_ union: Case) async throws {
        try await withTwo { kitchen, attic in
            for side in [kitchen, attic] {
                try side.write("own")
                try side.write("deleted", isDeleted: true)
                try await side.sync()
                try side.machine.forgetDeletions()
                #expect(try side.forgotten() > 0)
            }
            try await RecordedSession(kitchen.machine, attic.machine).run(
                RecordedWish(union: union.union, answer: .union(union.union)))
            #expect(try (kitchen.forgotten() > 0) == (union.caller != .givesUp))
            #expect(try (attic.forgotten() > 0) == (union.listener != .givesUp))
        }
    }

    /// A scorebook is replaced a second time, by the machine with which it is one already.
    @Test func whoGivesUpBeginsWithNothing() async throws {
        try await withTwo { kitchen, attic in
            try kitchen.write("kitchen")
            try attic.write("attic")
            try await RecordedSession(kitchen.machine, attic.machine).run()
            let session = try RecordedSession(kitchen.machine, attic.machine)
            try await session.run(RecordedWish(union: .replaceCaller))
            let (caller, listener) = (Said(session, ofCaller: true), Said(session, ofCaller: false))
            #expect(caller.open?.zones.first?.received == .start)
            #expect(caller.begin?.isHeldTokenVoid == true && caller.begin?.recordCount == 0)
            #expect(listener.open?.zones.first?.received != nil)
            #expect(try kitchen.records() == attic.records())
        }
    }

    // MARK: Who says no

    struct Refusal: Sendable, CustomTestStringConvertible {
        let union: ZoneUnion?
        let areShared: (caller: Bool, listener: Bool)
        /// What each lets the other do.
        var caller = ZoneRights.write
        var listener = ZoneRights.write
        var answer = ZoneAnswer.nobody
        let code: ProtocolError.Code

        var testDescription: String { "\(union.map { "\($0)" } ?? "nothing said"): \(code.rawValue)" }
    }

    static let refusals = [
        // Neither is new, and they hold different records.
        Refusal(union: nil, areShared: (true, false), code: .differentZones),
        Refusal(union: nil, areShared: (false, true), code: .differentZones),
        Refusal(union: nil, areShared: (true, true), code: .differentZones),
        Refusal(union: .merge, areShared: (true, true), code: .differentZones),
        Refusal(union: .merge, areShared: (true, true), answer: .cancel, code: .declined),
        Refusal(union: .replaceListener, areShared: (false, false), code: .declined),
        Refusal(union: .replaceListener, areShared: (false, false), answer: .cancel, code: .declined),
        // Whoever is to get records has to take them.
        Refusal(union: nil, areShared: (false, false), caller: .read, code: .notPermitted),
        Refusal(union: nil, areShared: (false, false), listener: .read, code: .notPermitted),
        Refusal(union: .merge, areShared: (false, false), caller: .read, code: .notPermitted),
        Refusal(union: .merge, areShared: (false, false), listener: .read, code: .notPermitted),
        Refusal(union: .replaceCaller, areShared: (false, false), caller: .read, code: .notPermitted),
        Refusal(union: .replaceListener, areShared: (false, false), listener: .read, code: .notPermitted),
        // They do not meet.
        Refusal(union: .replaceCaller, areShared: (false, false), caller: .none, code: .notPermitted),
        Refusal(union: .replaceListener, areShared: (false, false), listener: .none, code: .notPermitted),
    ]

    @Test(arguments: refusals) func nothingIsChangedWhenSomebodySaysNo(_ refusal: Refusal) async throws {
        try await withTwo { kitchen, attic in
            for (side, isShared) in [
                (kitchen, refusal.areShared.caller), (attic, refusal.areShared.listener),
            ] {
                try side.write(side.machine.name)
                if isShared { try await side.sync() }
            }
            try kitchen.machine.grant(refusal.caller, to: attic.machine)
            try attic.machine.grant(refusal.listener, to: kitchen.machine)
            let before = [try kitchen.records(), try attic.records()]
            let session = try RecordedSession(kitchen.machine, attic.machine)
            let error = await #expect(throws: ProtocolError.self) {
                try await session.run(RecordedWish(union: refusal.union, answer: refusal.answer))
            }
            #expect(error?.code == refusal.code)
            #expect([try kitchen.records(), try attic.records()] == before)
        }
    }

    /// It has the zone beside its own, and has taken it from the other's reach since: what is one zone for everybody must
    /// not come to be in a store twice.
    @Test func theZoneToBeIsNotBesideTheDefaultZone() async throws {
        try await withTwo { kitchen, attic in
            try kitchen.write("kitchen")
            try attic.write("attic")
            try await RecordedSession(kitchen.machine, attic.machine).run(
                RecordedWish(union: .beside))
            let peer = try kitchen.machine.peer(attic.machine)
            let further = try kitchen.machine.zones()[1]
            try kitchen.machine.write { db in
                try kitchen.machine.store.zones.setRights(db, .none, to: peer, in: further)
            }
            try kitchen.machine.grant(.write, to: attic.machine)
            let error = await #expect(throws: ProtocolError.self) {
                try await RecordedSession(kitchen.machine, attic.machine).run(
                    RecordedWish(union: .replaceCaller))
            }
            #expect(error?.code == .notPermitted)
        }
    }

    // MARK: Support

    private func withTwo(_ body: (Side, Side) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            try await body(
                try Side("kitchen", "cellar", tag: 1, in: directory),
                try Side("attic", "loft", tag: 3, in: directory))
        }
    }

    private func target(of union: ZoneUnion, _ caller: ZoneID, _ listener: ZoneID) -> ZoneID? {
        switch union {
        case .none, .beside: nil
        case .merge: min(caller, listener)
        case .replaceCaller: listener
        case .replaceListener: caller
        }
    }

    /// What a side said of the one zone of a session.
    struct Said {
        var open: Message.Open?
        var begin: Message.Begin?

        init(_ session: RecordedSession, ofCaller: Bool) {
            for case .message(ofCaller, _, let message) in session.entries {
                switch message {
                case .open(let open): self.open = open
                case .begin(let begin): self.begin = begin
                default: break
                }
            }
        }
    }
}

/// A machine that has a third one, which it has synced with before.
private struct Side {
    let machine: SessionMachine
    let third: SessionMachine
    private let directory: URL

    init(_ name: String, _ third: String, tag: UInt8, in parent: URL) throws {
        directory = parent.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        machine = try SessionMachine(name, .generate(), tag: tag, in: directory)
        self.third = try SessionMachine(third, .generate(), tag: tag + 1)
    }

    // MARK: Before

    func write(_ name: String, isDeleted: Bool = false) throws {
        let record = Samples.state(
            "SBGame|~|\(name)", [("name", .text(name), Samples.stamp(0))],
            deletion: isDeleted ? Samples.stamp(1) : nil)
        try machine.write([record])
    }

    func sync() async throws {
        try await RecordedSession(machine, third).run()
    }

    func haveOneRefused() async throws {
        try third.grant(.read, to: machine)
        try write("refused")
        try await sync()
    }

    /// A deletion came from the third machine, and the end of its stream did not.
    func leaveAStreamUnfinished() throws {
        let deletion = Samples.state("SBGame|~|gone", deletion: Samples.stamp(9))
        let peerZone = try peerZone(with: third)
        let batch = ChangeBatch(records: [deletion], token: Self.tokenOfThird, isLast: false)
        _ = try machine.write { try peerZone.apply($0, batch) }
    }

    /// Holds a token of another machine, though not one that this has given out.
    func noteToken(of other: Side) throws {
        let peerZone = try peerZone(with: other.machine)
        let batch = ChangeBatch(records: [], token: Self.tokenOfOther, isLast: true)
        _ = try machine.write { try peerZone.apply($0, batch) }
    }

    private static let tokenOfThird = ChangeToken(generation: [UInt8](repeating: 5, count: 8), sequence: 1)
    private static let tokenOfOther = ChangeToken(generation: [UInt8](repeating: 7, count: 8), sequence: 1)

    // MARK: After

    /// Holds what the side has come to against the columns of the table.
    func expect(
        _ part: UnionTests.Part, was id: ZoneID, _ target: ZoneID?, _ said: UnionTests.Said, _ other: Side
    ) throws {
        let zones = try machine.zones()
        let givesUp = part == .givesUp
        #expect(zones[0].id == target ?? id)
        #expect(try records().contains("SBGame|~|own") || givesUp)
        #expect(try !givesUp || records() == other.records())
        #expect(try backups() == (givesUp ? 1 : 0))
        let peerZone = try peerZone(with: third)
        let ofThird = try machine.read { try peerZone.summary($0) }
        #expect(ofThird.received == (givesUp ? nil : Self.tokenOfThird))
        #expect(ofThird.refused == (givesUp ? 0 : 1))
        #expect(try isTokenOfThirdVoid() == givesUp)
        #expect(try (acknowledgedByThird() == 0) == givesUp)
        #expect(zones[0].isShared)
        #expect(try rights(of: third) == (part == .takesUpBeside ? [.write, .none] : [.write]))
        guard part == .takesUpBeside else {
            #expect(zones.count == 1)
            #expect(try rights(of: other.machine) == [.write])
            #expect(said.open?.zones.map(\.received) == [givesUp ? .start : Self.tokenOfOther])
            return
        }
        #expect(try zones.map(\.id) == [id, other.defaultZone()])
        #expect(try rights(of: other.machine) == [.none, .write])
        #expect(said.open?.zones.map(\.id) == [zones[1].id])
        #expect(said.open?.zones.map(\.received) == [nil])
    }

    func defaultZone() throws -> ZoneID { try machine.zones()[0].id }

    /// The records of the default zone that live.
    func records() throws -> Set<String> {
        var names: Set<String> = []
        try machine.read { db in
            try machine.store.listing.forEachLiveState(db) { names.insert($0.name.description) }
        }
        return names
    }

    func forgotten() throws -> Int {
        try integer("SELECT purgedSequence FROM grdb_sync_recordZone WHERE id = 1")
    }

    private func acknowledgedByThird() throws -> Int {
        let peer = try machine.peer(third)
        return try integer(
            "SELECT acknowledgedSequence FROM grdb_sync_peerZone WHERE zone = 1 AND peer = ?", [peer.id])
    }

    private func integer(_ sql: String, _ arguments: StatementArguments = []) throws -> Int {
        try machine.read { try Int.fetchOne($0, sql: sql, arguments: arguments) ?? 0 }
    }

    private func backups() throws -> Int {
        let folder = directory.appendingPathComponent("backups").path
        return (try? FileManager.default.contentsOfDirectory(atPath: folder))?.count ?? 0
    }

    /// Whether this store does not take the token any more that the third machine holds of it.
    private func isTokenOfThirdVoid() throws -> Bool {
        let theirs = PeerZone(store: third.store, peer: try third.peer(machine))
        let held = try third.read { try theirs.summary($0).received }
        let peerZone = try peerZone(with: third)
        return try machine.read { try peerZone.begin($0, heldByPeer: held) }.isHeldTokenVoid
    }

    private func rights(of other: SessionMachine) throws -> [ZoneRights] {
        let peer = try machine.peer(other)
        return try machine.read { try machine.store.zones.grants($0, to: peer) }.map(\.rights)
    }

    private func peerZone(with other: SessionMachine) throws -> PeerZone {
        PeerZone(store: machine.store, peer: try machine.peer(other))
    }
}
