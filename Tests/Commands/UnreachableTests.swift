import Testing

/// An address where no peer answers gets a sentence and the right exit code, and costs nothing.
@Suite(.takingTurns) struct UnreachableTests {
    /// Connects to a server that does with each connection what it is told to, and expects a sentence.
    ///
    /// - Returns: the sentence.
    private func sentence(
        _ exitCode: Int32, _ serve: @escaping @Sendable (Socket) throws -> Void
    ) async throws -> String {
        var sentence = ""
        try await withPair { _, study in
            try await study.addGame("Catan")
            let before = try study.contents()
            let server = try Socket.listening()
            inBackground { try serve(server.accepted()) }
            let outcome = try await study.run("connect", "127.0.0.1:\(try server.port)", "--once")
            #expect(outcome.isSentence(exitCode), "\(outcome)")
            sentence = outcome.errors
            #expect(try study.contents() == before)
            #expect(try study.isSound())
        }
        return sentence
    }

    @Test func garbageIsNoPeer() async throws {
        let sentence = try await sentence(65) { socket in
            try socket.send([UInt8](repeating: 0x41, count: 10_000))
            _ = try socket.receiveAll()
        }
        #expect(sentence.contains("does not speak this protocol"))
    }

    @Test func aWebServerIsNoPeer() async throws {
        let sentence = try await sentence(65) { socket in
            _ = try socket.receive()
            try socket.send(Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8))
            socket.shutDown()
        }
        #expect(sentence.contains("does not speak this protocol"))
    }

    @Test func aHandshakeThatIsNoneIsNoPeer() async throws {
        let sentence = try await sentence(65) { socket in
            _ = try socket.receive()
            try socket.send([0, 96] + [UInt8](repeating: 7, count: 96))
            _ = try socket.receiveAll()
        }
        #expect(sentence.contains("does not speak this protocol"))
    }

    @Test func whoClosesAfterOurFirstMessageIsNamed() async throws {
        let sentence = try await sentence(75) { socket in
            _ = try socket.receive()
            socket.shutDown()
        }
        #expect(sentence.contains("closed the connection during the handshake"))
    }

    /// How far the handshake comes before it is seen that the connection is gone is a matter of luck.
    @Test func whoClosesAtOnceIsNamed() async throws {
        try await withMachine { study in
            let server = try Socket.listening()
            let port = try server.port
            inBackground { while true { try server.accepted().shutDown() } }
            for _ in 1...10 {
                let outcome = try await study.run("connect", "127.0.0.1:\(port)", "--once")
                #expect(outcome.isSentence(75), "\(outcome)")
                #expect(outcome.errors.contains("127.0.0.1:\(port)"), "\(outcome)")
            }
            server.shutDown()
        }
    }

    /// There is no host of the machine's name, and that says nothing of where the machine was.
    @Test func aPairedMachineThatIsOffIsNamedByItsLastAddress() async throws {
        try await withPair { kitchen, study in
            let outcome = try await study.run("connect", kitchen.name, "--once")
            #expect(outcome.isSentence(69), "\(outcome)")
            #expect(outcome.errors.contains("127.0.0.1:"), "\(outcome)")
        }
    }

    @Test func anotherVersionIsNamed() async throws {
        let sentence = try await sentence(65) { socket in
            _ = try socket.receive()
            try socket.send([0, 8] + Array("SBPEER".utf8) + [0xFF, 2])
            _ = try socket.receiveAll()
        }
        #expect(sentence.contains("version 2") && sentence.contains("version 1"))
    }

    @Test func silenceIsNotWaitedOutForLong() async throws {
        let sentence = try await sentence(75) { _ = try $0.receiveAll() }
        #expect(sentence.contains("did not answer in time"))
    }

    @Test func nobodyListens() async throws {
        try await withMachine { study in
            // A port that was free a moment ago.
            let port = try Socket.listening().port
            for extra in [[], ["--once"], ["--once", "--code", "123-456"]] {
                let process = try study.start(["connect", "127.0.0.1:\(port)"] + extra)
                let outcome = try await process.outcome()
                #expect(outcome.isSentence(69))
                #expect(outcome.errors.contains("connection refused"))
            }
        }
    }

    @Test func aHostThatDoesNotAnswer() async throws {
        try await withMachine { study in
            // Connections that nobody takes fill the line; the next one is not answered.
            let server = try Socket.listening(backlog: 0)
            let port = try server.port
            let line = try Socket.connected(to: port)
            let outcome = try await study.run("connect", "127.0.0.1:\(port)", "--once")
            #expect(outcome.isSentence(69) || outcome.isSentence(75), "\(outcome)")
            #expect(outcome.errors.contains("answer"))
            line.shutDown()
        }
    }

    @Test func aHostThatIsNotKnown() async throws {
        try await withMachine { study in
            let outcome = try await study.run("connect", "no-such-host.invalid:7431", "--once")
            #expect(outcome.isSentence(69))
            #expect(outcome.errors.contains("no-such-host.invalid"))
        }
    }

    @Test func aPortThatIsInUse() async throws {
        try await withTwoMachines { kitchen, study in
            let listener = try await kitchen.listen()
            let outcome = try await study.run("listen", "--host", "127.0.0.1", "--port", "\(listener.port)")
            #expect(outcome.isSentence(69))
            #expect(outcome.errors.contains("address already in use"))
            #expect(listener.process.isRunning)
        }
    }

    @Test(arguments: ["192.0.2.1", "no-such-host.invalid"])
    func anAddressThatIsNotThisMachines(host: String) async throws {
        try await withMachine { kitchen in
            let outcome = try await kitchen.run("listen", "--host", host, "--port", "0")
            #expect(outcome.isSentence(69))
            #expect(outcome.errors.contains(host))
            // Names of types are for programmers.
            #expect(!outcome.errors.contains("SocketAddressError"), "\(outcome)")
        }
    }
}
