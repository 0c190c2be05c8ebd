import Foundation
import TestSupport
import Testing

/// Whatever connects to the port, the listener stays up, its store stays as it is, and peers can sync.
@Suite(.takingTurns) struct BadInputTests {
    /// Sends something to a listener, expects that the listener closes the connection, and syncs.
    ///
    /// - Returns: what the listener answered.
    @discardableResult
    private func expectRefused(_ bytes: some Collection<UInt8>) async throws -> [UInt8] {
        var answer: [UInt8] = []
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            let listener = try await kitchen.listen()
            let socket = try Socket.connected(to: listener.port)
            #expect(socket.sendUntilClosed(bytes) > 0)
            answer = try socket.receiveAll()
            try await expectSync(listener, kitchen, study)
        }
        return answer
    }

    private func expectSync(_ listener: Listener, _ kitchen: Machine, _ study: Machine) async throws {
        try await study.sync(listener)
        #expect(try study.rows("SELECT name FROM SBGame") == ["Catan"])
        #expect(try await haveEqualDigests(kitchen, study))
        #expect(try kitchen.isSound())
        #expect(listener.process.isRunning)
        #expect(listener.process.errors.isEmpty)
    }

    @Test func garbageIsRefused() async throws {
        var generator = SeededGenerator(seed: 8)
        let garbage = (0..<100_000).map { _ in UInt8.random(in: 1...255, using: &generator) }
        let answer = try await expectRefused(garbage)
        #expect(answer.isEmpty)
    }

    @Test func anHTTPRequestIsRefused() async throws {
        let answer = try await expectRefused(Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        #expect(answer.isEmpty)
    }

    /// Lengths that no handshake message has are refused when they are read, before anything is waited for.
    @Test(arguments: [[0xFF, 0xFF], [0x02, 0x01], [0x00, 0x00]] as [[UInt8]])
    func anAbsurdLengthIsRefused(length: [UInt8]) async throws {
        #expect(try await expectRefused(length).isEmpty)
    }

    @Test(arguments: [[], [0x00], [0x00, 0x28], [0x00, 0x28, 1, 2, 3]] as [[UInt8]])
    func whatIsNotFollowedByAnythingIsCutOff(start: [UInt8]) async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            let listener = try await kitchen.listen()
            let socket = try Socket.connected(to: listener.port)
            try socket.send(start)
            // The sync does not have to wait for it.
            try await expectSync(listener, kitchen, study)
            #expect(try socket.receiveAll().isEmpty)
        }
    }

    @Test func aFirstMessageOfAnotherProtocolIsRefused() async throws {
        let message = firstMessage(payload: Array("HELLO!".utf8) + [1, 0])
        #expect(try await expectRefused(message).isEmpty)
    }

    @Test(arguments: [0, 2, 255] as [UInt8])
    func anotherMajorVersionIsToldOurs(version: UInt8) async throws {
        let answer = try await expectRefused(firstMessage(payload: Array("SBPEER".utf8) + [version, 0]))
        #expect(answer == [0, 8] + Array("SBPEER".utf8) + [0xFF, 1])
    }

    @Test func anotherMinorVersionIsAnswered() async throws {
        try await withMachine { kitchen in
            let listener = try await kitchen.listen()
            let socket = try Socket.connected(to: listener.port)
            try socket.send(firstMessage(payload: Array("SBPEER".utf8) + [1, 99]))
            var answer: [UInt8] = []
            while answer.count < 98 {
                let bytes = try socket.receive()
                try #require(!bytes.isEmpty)
                answer += bytes
            }
            // The second message of the handshake.
            #expect(answer.count == 98 && answer.starts(with: [0, 96]))
        }
    }

    @Test func whoeverClosesAtOnceIsForgotten() async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            let listener = try await kitchen.listen()
            for number in 0..<100 {
                let socket = try Socket.connected(to: listener.port)
                if number.isMultiple(of: 2) { try socket.send([0x00]) }
            }
            try await eventually("sync after the others have gone") {
                try await study.run("connect", listener.address, "--once").exitCode == 0
            }
            try await expectSync(listener, kitchen, study)
        }
    }

    /// More strangers than a listener talks to at a time, all of them silent.
    @Test func aCrowdOfStrangersKeepsNobodyOutForLong() async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            let listener = try await kitchen.listen()
            let crowd = try (0..<100).map { _ in try Socket.connected(to: listener.port) }
            try await eventually("sync after the crowd was cut off") {
                try await study.run("connect", listener.address, "--once").exitCode == 0
            }
            try await expectSync(listener, kitchen, study)
            for socket in crowd { socket.shutDown() }
        }
    }

    /// However many come, they do not fill the terminal of whoever listens.
    @Test func aCrowdOfStrangersIsToldInFewLines() async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            let listener = try await kitchen.listen()
            for _ in 0..<100 {
                let socket = try Socket.connected(to: listener.port)
                try? socket.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
                _ = try socket.receiveAll()
            }
            try await expectSync(listener, kitchen, study)
            #expect(try listener.process.events("refused").count == 1)
            listener.process.signal(SIGINT)
            #expect(try await listener.process.end() == 0)
            #expect(try listener.process.events("refusedMore").map(\.count) == [99])
        }
    }

    @Test func theListenerTellsWhatItTurnedAway() async throws {
        try await withMachine { kitchen in
            let listener = try await kitchen.listen()
            let socket = try Socket.connected(to: listener.port)
            try socket.send(firstMessage(payload: Array("SBPEER".utf8) + [2, 0]))
            let reason = try #require(try await listener.process.event("refused").reason)
            #expect(reason.contains("version 2") && reason.contains("version 1"))
        }
    }

    /// The first message of a handshake: a length, an ephemeral key and a payload in the clear.
    private func firstMessage(payload: [UInt8]) -> [UInt8] {
        let key = [UInt8](repeating: 9, count: 32)
        return [0, UInt8(key.count + payload.count)] + key + payload
    }
}
