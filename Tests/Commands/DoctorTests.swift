import Foundation
import TestSupport
import Testing

/// The doctor says why two machines do not sync, and changes nothing.
@Suite(.takingTurns) struct DoctorTests {
    /// The bytes of every file of a machine's store.
    private func files(_ machine: Machine) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: machine.store.path)
        return try Dictionary(
            uniqueKeysWithValues: names.map {
                ($0, try Data(contentsOf: machine.store.appendingPathComponent($0)))
            })
    }

    @Test func itMakesNoStore() async throws {
        try await withMachine { kitchen in
            let said = try await kitchen.doctor()
            #expect(said.exitCode == 66 && said.problems == ["noStore"])
            #expect(!FileManager.default.fileExists(atPath: kitchen.store.path))
        }
    }

    @Test func itWritesIntoNoStore() async throws {
        try await withPair { kitchen, study in
            try await kitchen.importHousehold()
            let listener = try await kitchen.listen()
            try await study.sync(listener)
            let before = try files(study)
            let said = try await study.doctor("kitchen")
            #expect(said.exitCode == 0 && said.problems.isEmpty, "\(said)")
            #expect(said.codes.contains("answers") && said.finding("sound")?.number == Household.recordCount)
            #expect(try files(study) == before)
            // While another program has it open, and has written into the log.
            try await kitchen.addGame("Azul")
            let log = try Data(contentsOf: kitchen.store.appendingPathComponent("scorebook.sqlite-wal"))
            #expect(!log.isEmpty)
            #expect(try await kitchen.doctor().finding("sound")?.number == Household.recordCount + 1)
            #expect(
                try Data(contentsOf: kitchen.store.appendingPathComponent("scorebook.sqlite-wal")) == log)
            // After a crash, and where somebody copied the files without the index.
            listener.process.signal(SIGKILL)
            _ = try await listener.process.end()
            try FileManager.default.removeItem(
                at: kitchen.store.appendingPathComponent("scorebook.sqlite-shm"))
            let left = try files(kitchen)
            #expect(left["scorebook.sqlite-wal"]?.isEmpty == false)
            #expect(try await kitchen.doctor().finding("sound")?.number == Household.recordCount + 1)
            #expect(try files(kitchen) == left)
        }
    }

    @Test func sentencesForPeople() async throws {
        try await withPair { kitchen, study in
            let outcome = try await study.run("doctor", "127.0.0.1:1", "--port", "1")
            #expect(outcome.exitCode == 69, "\(outcome)")
            #expect(outcome.output.contains("problem  "), "\(outcome)")
            #expect(outcome.output.contains("run `scorebook-peer listen` on it"), "\(outcome)")
            #expect(outcome.errors.wholeMatch(of: /error: .{10,}\n/) != nil, "\(outcome)")
            // Each sentence stands on a line of its own, and none is a code.
            for line in outcome.output.split(separator: "\n") {
                #expect(line.wholeMatch(of: /(ok|warning|problem) +.* .* .*/) != nil, "\(line)")
            }
            _ = kitchen
        }
    }

    // MARK: This machine

    @Test func aKeyThatOthersCanRead() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let key = kitchen.store.appendingPathComponent("identity.key").path
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
            let said = try await kitchen.doctor()
            #expect(said.exitCode == 78 && said.problems == ["keyUnusable"])
            #expect(said.finding("keyUnusable")?.text.contains("chmod 600 \(key)") == true)
            #expect(!said.codes.contains("noPeers"))
            // Nobody knows who is paired, so a name is no wrong address.
            #expect(try await kitchen.doctor("study").problems == ["keyUnusable"])
            #expect(try await kitchen.doctor("127.0.0.1:1").problems == ["keyUnusable", "connectionRefused"])
            try FileManager.default.removeItem(atPath: key)
            #expect(try await kitchen.doctor().problems == ["noKey"])
            #expect(!FileManager.default.fileExists(atPath: key))
        }
    }

    @Test func theDatabaseIsDamaged() async throws {
        try await withMachine { kitchen in
            try await kitchen.importHousehold()
            let handle = try FileHandle(forWritingTo: kitchen.databaseFile)
            for page in stride(from: 40_960, to: 400_000, by: 4096) {
                try handle.seek(toOffset: UInt64(page))
                try handle.write(contentsOf: Data(repeating: 0x5A, count: 2048))
            }
            try handle.close()
            let said = try await kitchen.doctor()
            #expect(said.exitCode == 65 && said.problems == ["damaged"], "\(said)")
            // A log that stays would be written into the backup.
            #expect(said.finding("damaged")?.text.contains("-wal and -shm, and copy a backup") == true)
            try Data("This is no database at all, but a text.".utf8).write(to: kitchen.databaseFile)
            #expect(try await kitchen.doctor().problems == ["damaged"])
        }
    }

    @Test func aStoreThatIsNotSound() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            try kitchen.write("UPDATE grdb_sync_recordZone SET recordCount = recordCount + 1")
            let said = try await kitchen.doctor()
            #expect(said.exitCode == 65 && said.problems == ["unsound"], "\(said)")
        }
    }

    @Test func aSwitchAndAWrongClock() async throws {
        try await withMachine { kitchen in
            try await kitchen.peer("sync", "off")
            #expect(try await kitchen.doctor().problems == ["switchedOff"])
            try await kitchen.peer("sync", "on")
            try await kitchen.shifted(by: "+2d").addGame("Catan")
            let said = try await kitchen.doctor()
            #expect(said.exitCode == 77 && said.problems == ["writesInFuture"], "\(said)")
            #expect(said.finding("writesInFuture")?.text.contains("2 days") == true, "\(said)")
            #expect(try await kitchen.shifted(by: "-30y").doctor().problems.contains("clockUnset"))
        }
    }

    @Test func whoListensHere() async throws {
        try await withTwoMachines { kitchen, study in
            let listener = try await kitchen.listen()
            let own = try await kitchen.doctor(port: listener.port)
            // macOS does not list who listens where.
            #if os(Linux)
                #expect(own.finding("listeningToItself")?.subject == listener.address, "\(own)")
            #else
                #expect(own.problems.isEmpty, "\(own)")
            #endif
            try await study.addGame("Catan")
            let other = try await study.doctor(port: listener.port)
            #expect(other.exitCode == 69 && other.problems == ["portTaken"], "\(other)")
            #expect(try await study.doctor().codes.contains("notListening"))
        }
    }

    // MARK: Other machines

    @Test func nobodyListensThere() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            try await study.sync(listener)
            try await listener.stop()
            let said = try await study.doctor("kitchen")
            #expect(said.exitCode == 69 && said.problems == ["connectionRefused"], "\(said)")
            #expect(said.finding("connectionRefused")?.peer == "kitchen")
            #expect(try await study.doctor().problems == ["connectionRefused"])
            #expect(try await study.doctor(listener.address).finding("connectionRefused")?.peer == "kitchen")
        }
    }

    @Test func anotherMachineHasTheAddressNow() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            try await study.sync(listener)
            try await listener.stop()
            let attic = kitchen.scene.machine("attic")
            let stranger = try await attic.listen(port: listener.port)
            #expect(try await study.doctor("kitchen").problems == ["wrongMachine"])
            #expect(try await attic.doctor(stranger.address).problems == ["thisMachine"])
            #expect(try await kitchen.doctor(stranger.address).problems == ["notPaired"])
        }
    }

    @Test func aPairingThatEnded() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            try await study.sync(listener)
            try await kitchen.peer("peers", "forget", "study")
            let said = try await study.doctor("kitchen")
            #expect(said.exitCode == 77 && said.problems == ["notPairedThere"], "\(said)")
        }
    }

    @Test func somethingElseListensThere() async throws {
        try await withPair { _, study in
            let server = try Socket.listening()
            inBackground {
                let socket = try server.accepted()
                _ = try socket.receive()
                try socket.send(Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8))
                socket.shutDown()
            }
            let said = try await study.doctor("127.0.0.1:\(try server.port)")
            #expect(said.exitCode == 65 && said.problems == ["strangerListens"], "\(said)")
        }
    }

    #if os(Linux)
        /// Otherwise each text that is longer than a line leaves a line on the terminal.
        @Test func theProgressKeepsToOneLine() async throws {
            try await withPair { _, study in
                let server = try Socket.listening()
                let command =
                    "'\(PeerProcess.program.path)' doctor 127.0.0.1:\(try server.port) --store '\(study.store.path)'"
                let process = try study.scene.start(
                    ["-qec", command, "/dev/null"], of: URL(fileURLWithPath: "/usr/bin/script"),
                    environment: ["COLUMNS": "10", "SHELL": "/bin/sh"])
                try await eventually("the progress") { process.output.contains("\u{1B}[K") }
                #expect(process.output.contains("\u{1B}[Klooking,…"), "\(process)")
                process.signal(SIGTERM)
                _ = try await process.end()
            }
        }
    #endif

    @Test func clocksThatDiffer() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let said = try await study.shifted(by: "-2h").doctor(listener.address)
            #expect(said.exitCode == 77 && said.problems == ["clocksDiffer"], "\(said)")
            #expect(said.finding("clocksDiffer")?.text.contains("2 hours ahead") == true, "\(said)")
        }
    }

    @Test func aClockThatIsWrongAmongThree() async throws {
        try await withPair { kitchen, study in
            let attic = kitchen.scene.machine("attic")
            try await study.pair(with: attic)
            let listeners = [try await kitchen.listen(), try await attic.listen()]
            for listener in listeners { try await study.sync(listener) }
            for (shift, sentence) in [
                ("+3h", "3 hours ahead of the others"), ("-2d", "2 days behind the others"),
            ] {
                let said = try await study.shifted(by: shift).doctor()
                #expect(said.exitCode == 77 && said.problems == ["clockWrong"], "\(said)")
                let text = said.finding("clockWrong")?.text
                #expect(text?.contains(sentence) == true && text?.contains("set") == true, "\(said)")
            }
            #expect(try await study.doctor().problems.isEmpty)
        }
    }

    @Test func aMachineThatWasLongAway() async throws {
        try await withPair { kitchen, _ in
            let said = try await kitchen.shifted(by: "+100d").doctor()
            let text = said.finding("longAway")?.text
            #expect(text?.contains("forgets no deletion") == true, "\(said)")
            #expect(text?.contains("`scorebook-peer peers forget study`") == true, "\(said)")
        }
    }

    @Test func theOtherOneIsSwitchedOff() async throws {
        try await withPair { kitchen, study in
            let listener = try await kitchen.listen()
            let connection = try await study.connect(to: listener)
            try await connection.event("inSync")
            try await kitchen.peer("sync", "off")
            _ = try await listener.process.end()
            try await connection.event("disconnected")
            let said = try await study.doctor("kitchen")
            #expect(said.exitCode == 75 && said.problems == ["peerSwitchedOff"], "\(said)")
        }
    }

    @Test func noZoneInCommon() async throws {
        try await withPair { kitchen, study in
            try await kitchen.peer("peers", "grant", "study", "ScorebookData", "none")
            let listener = try await kitchen.listen()
            #expect(try await study.doctor(listener.address).problems == ["noCommonZone"])
        }
    }
}
