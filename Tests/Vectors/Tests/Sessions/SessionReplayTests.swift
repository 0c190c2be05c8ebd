import Foundation
import NIOCore
import PeerSyncChannel
import PeerSyncModel
import PeerSyncStore
import ProtocolVectors
import ScriptedPeer
import TestSupport
import Testing

@testable import PeerSync
@testable import PeerSyncProtocol

/// Each conversation of sessions.json, played against the session that the program runs: once as the caller, and once as
/// the listener. The other side says what it says in the file.
@Suite(.timeLimit(.minutes(10))) struct SessionReplayTests {
    struct Role: Sendable, CustomTestStringConvertible {
        let session: SessionFile.Case
        let isCaller: Bool

        var own: SessionFile.Side { isCaller ? session.caller : session.listener }
        var other: SessionFile.Side { isCaller ? session.listener : session.caller }
        var name: String { isCaller ? "caller" : "listener" }
        var testDescription: String { "\(session.title), as the \(name)" }

        func isFromOwn(_ entry: SessionFile.Entry) -> Bool { entry.from == name }
    }

    static let roles: [Role] = {
        do {
            let file: SessionFile = try Repository.vector("sessions.json")
            return file.cases.flatMap { session in
                [true, false].map { Role(session: session, isCaller: $0) }
            }
        } catch {
            preconditionFailure("sessions.json cannot be read: \(error)")
        }
    }()

    /// A file without these sessions would pass every replay.
    @Test func theFileHasSessionsOfEachKind() {
        let sessions = Self.roles.map(\.session)
        #expect(sessions.count >= 50)
        #expect(Set(sessions.compactMap(\.wish.union)) == [2, 3, 4])
        let reasons = sessions.flatMap {
            ($0.caller.after.zones + $0.listener.after.zones).flatMap(\.refused)
        }
        #expect(Set(reasons.map(\.reason)) == [1, 2, 3])
    }

    @Test(arguments: roles) func theProgramSaysWhatTheFileSays(_ role: Role) async throws {
        try await withTemporaryDirectory { folder in
            let replay = try Replay(role, in: folder)
            #expect(try replay.described() == Self.stores[Self.key(role, "before")])
            try await replay.run()
            #expect(try replay.described() == Self.stores[Self.key(role, "after")])
            #expect(replay.tokens.left == [], "the store has drawn fewer generations")
        }
    }

    private static func key(_ role: Role, _ moment: String) -> String {
        "\(role.session.title), \(role.name) \(moment)"
    }

    /// The stores as the file has them, by ``key(_:_:)``.
    private static let stores: [String: String] = {
        do {
            let data = try Data(contentsOf: Repository.vectors.appendingPathComponent("sessions.json"))
            let file = try JSONSerialization.jsonObject(with: data) as? [String: Any]
            let cases = file?["cases"] as? [[String: Any]] ?? []
            var stores: [String: String] = [:]
            for role in roles {
                let side = cases.first { $0["title"] as? String == role.session.title }?[role.name]
                for (moment, store) in side as? [String: Any] ?? [:]
                where ["before", "after"].contains(moment) {
                    stores[key(role, moment)] = try sortedText(store)
                }
            }
            return stores
        } catch {
            preconditionFailure("sessions.json cannot be read: \(error)")
        }
    }()
}

/// JSON in a form that two equal values have alike.
private func sortedText(_ json: Any) throws -> String {
    let data = try JSONSerialization.data(withJSONObject: json, options: [.sortedKeys, .prettyPrinted])
    return try #require(String(bytes: data, encoding: .utf8))
}

/// One side of a conversation, played by a real session with a real store.
private final class Replay {
    typealias Role = SessionReplayTests.Role

    let tokens: SessionTokens
    private let role: Role
    private let machine: SessionMachine
    /// Not more than a name and a key: the file speaks for it.
    private let other: SessionMachine

    init(_ role: Role, in folder: URL) throws {
        self.role = role
        let wish = role.session.wish
        let union = wish.union.flatMap(ZoneUnion.init)
        let answer: ZoneAnswer =
            switch wish.allows {
            case nil: .nobody
            case false?: .cancel
            case true?: .union(union ?? .none)
            }
        machine = try SessionMachine(
            role.own.displayName, role.own.keyPair, tag: role.own.instance.bytes[0], in: folder,
            answer: role.isCaller ? .nobody : answer)
        other = try SessionMachine(
            role.other.displayName, role.other.keyPair, tag: role.other.instance.bytes[0])
        let kept = [role.own, role.other].flatMap { side in
            side.before.generations.map(\.generation.bytes)
                + side.before.zones.compactMap(\.received?.generation.bytes)
        }
        let drawnByOther = role.other.generations.map(\.bytes)
        tokens = SessionTokens(keeping: kept + drawnByOther, next: role.own.generations.map(\.bytes))
        try machine.fill(role.own.before, with: other)
    }

    /// The store, as the file would have it.
    func described() throws -> String {
        let text = try machine.describe(with: other, tokens).text
        return try sortedText(try JSONSerialization.jsonObject(with: Data(text.utf8)))
    }

    private var purpose: SessionPurpose {
        guard role.isCaller else { return .answer }
        let wish = role.session.wish
        return .call(
            SessionCall(
                comparesEverything: wish.compareEverything, startsOver: wish.startOver,
                union: wish.union.flatMap(ZoneUnion.init)))
    }

    func run() async throws {
        try await ScriptedLine.connection { own, others in
            // The file has no pings. And here both sides wait for the same processors, not for each other.
            machine.engine.deadlines = Deadlines(
                handshake: .seconds(300), greeting: .seconds(300), decision: .seconds(300),
                silence: .seconds(300), ping: .seconds(3600), farewell: .seconds(60))
            let session = PeerSession(machine.engine, own, purpose: purpose, address: "vector")
            async let result = Result { try await session.run() }
            try await others.executeThenClose { inbound, outbound in
                var line = try await ScriptedLine(
                    role.isCaller ? .responder : .initiator, other.engine.identity, others.channel, inbound,
                    outbound)
                var script = Script(role, tokens, machine)
                try await script.play(session, &line)
            }
            check(await result)
        }
    }

    /// A session ends in sync, or with the error that stands in the file.
    private func check(_ result: Result<SyncReport?, any Error>) {
        let hasError = role.session.conversation.contains { $0.message?.type == "error" }
        switch result {
        case .success(let report): #expect(report != nil && !hasError)
        case .failure(let error): #expect(hasError && error is PeerSyncError, "\(error)")
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

extension ChangeBatch {
    fileprivate var inOrderOfName: ChangeBatch {
        var batch = self
        batch.records.sort { $0.name < $1.name }
        return batch
    }
}

/// What the other side says, and what the real one is to say to it.
private struct Script {
    private let role: SessionReplayTests.Role
    private let tokens: SessionTokens
    private let machine: SessionMachine
    private var hasSaidWhatItWants = false
    /// The real side has ended the session with an error.
    private var isOver = false

    init(_ role: SessionReplayTests.Role, _ tokens: SessionTokens, _ machine: SessionMachine) {
        self.role = role
        self.tokens = tokens
        self.machine = machine
    }

    private var conversation: [SessionFile.Entry] { role.session.conversation }

    mutating func play(_ session: PeerSession, _ line: inout ScriptedLine) async throws {
        for (number, entry) in conversation.enumerated() where !isOver {
            if role.isFromOwn(entry) {
                // The script waited for all others when it brought what they answer.
                guard entry.on == nil else { continue }
                if entry.message?.type == "goodbye" { session.stop() }
                try await expect(number, &line)
                continue
            }
            if let bytes = entry.bytes {
                try await line.send(tokens.original(Self.message(bytes)))
            } else if entry.at == role.name {
                try machine.write(try entry.writes?.map { try $0.state } ?? [])
                machine.engine.watch.notify()
            }
            for (answer, said) in conversation.enumerated() where said.on == number && role.isFromOwn(said) {
                try await expect(answer, &line)
            }
        }
        // Whoever is told of an error leaves. What the real side has said behind it is read all the same.
        // It may have closed the connection already.
        if isOver { try? await line.closeOutput() }
        let more = try await line.receive()
        #expect(more == nil, "something more is said")
    }

    private static func message(_ bytes: Hex) throws -> Message {
        var buffer = ByteBuffer(bytes: bytes.bytes)
        return try #require(try MessageCodec.decode(&buffer, limit: ProtocolLimits.maximumMessage))
    }

    /// Holds the next message of the real side against one of the file.
    private mutating func expect(_ number: Int, _ line: inout ScriptedLine) async throws {
        let expected = try Self.message(try #require(conversation[number].bytes))
        if case .assetsWanted = expected, hasSaidWhatItWants { return }
        var said = try await next(&line, number)
        // It may come at another place, before the first digest.
        if case .assetsWanted(let wanted) = said {
            #expect(!hasSaidWhatItWants && wanted.files == 0 && wanted.bytes == 0)
            hasSaidWhatItWants = true
            if case .assetsWanted = expected { return }
            said = try await next(&line, number)
        }
        if case .digest = said { #expect(hasSaidWhatItWants) }
        switch (said, expected) {
        case (.error(let error), .error(let wanted)):
            // The words are each program's own.
            #expect(error.code == wanted.code)
            isOver = true
        case (.hello(var hello), _):
            // The program draws it.
            hello.instance = role.own.instance.number
            #expect(.hello(hello) == expected)
        case (.batch(let zone, let batch), .batch(let wantedZone, let wanted)) where batch.isLoose:
            // The program takes them in the order in which the database finds them.
            #expect(zone == wantedZone && batch.inOrderOfName == wanted.inOrderOfName, "entry \(number)")
        default:
            let bytes = Array(said.encoded.readableBytesView)
            #expect(bytes == conversation[number].bytes?.bytes, "entry \(number): \(said)")
        }
    }

    /// What the real side says, with the generations that the file has.
    private func next(_ line: inout ScriptedLine, _ number: Int) async throws -> Message {
        let message = try #require(
            try await line.receive(), "the session has ended, instead of entry \(number)")
        try tokens.look(at: machine)
        return tokens.renamed(message)
    }
}
