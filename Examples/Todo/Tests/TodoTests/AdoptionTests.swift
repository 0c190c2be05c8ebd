import Foundation
import GRDB
import Testing

/// What docs/library.md promises, with an app that was not made for sync.
@Suite(.timeLimit(.minutes(2))) struct AdoptionTests {
    /// Status and pairing included.
    @Test func syncTakesFewerThanFortyLines() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources").standardizedFileURL
        let diff = Process()
        let output = Pipe()
        diff.executableURL = URL(fileURLWithPath: "/usr/bin/diff")
        diff.arguments = ["-r", "-N", "TodoBefore", "Todo"]
        diff.currentDirectoryURL = sources
        diff.standardOutput = output
        try diff.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        diff.waitUntilExit()
        let count = text.split(separator: "\n").count { $0.hasPrefix("<") || $0.hasPrefix(">") }
        #expect(count > 0 && count < 40, "\(count) lines")
    }

    /// Both machines had the app before it could sync. They get sync, and then the next version, one after the other.
    @Test func twoMachinesSyncThroughTheirMigrations() async throws {
        try await withMachines { kitchen, study in
            for (machine, item) in [(kitchen, "Milk"), (study, "Eggs!")] {
                try await machine.run("todo-before", "add-list", "groceries")
                try await machine.run("todo-before", "add", "groceries", item)
                try await machine.run("todo-before", "tag", "groceries", "1", "urgent")
            }

            // Both have the item 1, the tag 1 and the tag “urgent”.
            let ports = try [freePort(), freePort()]
            var atKitchen = try kitchen.watch("todo", port: ports[0])
            let code = try #require(await atKitchen.line()?.split(separator: " ").last)
            var atStudy = try study.watch(
                "todo", port: ports[1], pairingWith: ["127.0.0.1:\(ports[0])", String(code)])
            let joined = "groceries\n  1 [ ] Milk #urgent\n  2 [ ] Eggs! #urgent"
            _ = await atStudy.line()
            try await atKitchen.shows(joined)
            try await atStudy.shows(joined)

            // Live, and also what another program writes.
            atKitchen.type("groceries Bread")
            try await study.run("todo", "done", "groceries", "1")
            try await study.run("todo", "rename-tag", "urgent", "soon")
            let changed = "groceries\n  1 [x] Milk #soon\n  2 [ ] Eggs! #soon\n  3 [ ] Bread"
            try await atKitchen.shows(changed)
            try await atStudy.shows(changed)
            atKitchen.stop()
            #expect(try kitchen.rows() == study.rows())

            // The kitchen gets the next version, which fills a column that the study does not know.
            atKitchen = try kitchen.watch("todo-next", port: ports[0])
            _ = await atKitchen.line()
            atKitchen.type("groceries Tea!")
            try await atKitchen.shows(
                "groceries\n  1 [x] Milk #soon\n  2 [ ] Eggs! #soon (now)\n  3 [ ] Bread\n  4 [ ] Tea! (now)")
            try await study.run("todo", "done", "groceries", "2")
            atStudy.type("groceries Salt!")
            try await atKitchen.shows(
                """
                groceries
                  1 [x] Milk #soon
                  2 [x] Eggs! #soon (now)
                  3 [ ] Bread
                  4 [ ] Tea! (now)
                  5 [ ] Salt!
                """)
            atStudy.stop()

            // The study follows. Its migration fills the column of the item that only it has written.
            atStudy = try study.watch("todo-next", port: ports[1])
            _ = await atStudy.line()
            let both = """
                groceries
                  1 [x] Milk #soon
                  2 [x] Eggs! #soon (now)
                  3 [ ] Bread
                  4 [ ] Tea! (now)
                  5 [ ] Salt! (now)
                """
            try await atKitchen.shows(both)
            try await atStudy.shows(both)
            atKitchen.stop()
            atStudy.stop()
            #expect(try kitchen.rows() == study.rows())
        }
    }

    @Test(arguments: ["todo-before", "todo", "todo-next"])
    func wrongInputIsToldInOneSentence(program: String) async throws {
        try await withMachines { kitchen, study in
            try await kitchen.run(program, "add-list", "groceries")
            await told("there is no list “books”") { try await kitchen.run(program, "add", "books", "Emma") }
            await told("there is a list “groceries” already") {
                try await kitchen.run(program, "add-list", "groceries")
            }
            await told("the list “groceries” has no item 1") {
                try await kitchen.run(program, "done", "groceries", "1")
            }
            await told("there is no tag “urgent”") {
                try await kitchen.run(program, "rename-tag", "urgent", "now")
            }
            try Data(repeating: 1, count: 4096).write(to: study.database)
            await told("\(study.database.path) cannot be opened: file is not a database") {
                try await study.run(program, "list")
            }
            let nowhere = Machine("nowhere/kitchen", in: study.database.deletingLastPathComponent())
            await told("\(nowhere.database.path) cannot be opened: unable to open database file") {
                try await nowhere.run(program, "list")
            }
        }
    }

    @Test func aMachineThatCannotBePairedIsToldInOneSentence() async throws {
        try await withMachines { kitchen, study in
            let port = try freePort()
            await told("cannot reach 127.0.0.1:\(port): connection refused") {
                try await study.run("todo", "watch", "127.0.0.1:\(port)", "123-456")
            }
            let atKitchen = try kitchen.watch("todo", port: port)
            let code = try #require(await atKitchen.line()?.split(separator: " ").last)
            try await atKitchen.shows("")
            let wrong = code.first == "0" ? "1" + code.dropFirst() : "0" + code.dropFirst()
            await told("the pairing code is wrong; 2 attempts are left") {
                try await study.run("todo", "watch", "127.0.0.1:\(port)", wrong)
            }
            await told("a pairing code has six digits, as 123-456") {
                try await study.run("todo", "watch", "127.0.0.1:\(port)", "12")
            }
            // It waits for the port, and connects to the others meanwhile.
            let atStudy = try study.watch("todo", port: port)
            var line = await atStudy.line()
            while let shown = line, !shown.hasPrefix("Error: ") { line = await atStudy.line() }
            #expect(line == "Error: cannot listen on 0.0.0.0 port \(port): address already in use")
            atStudy.stop()
            await told("cannot listen on 0.0.0.0 port 99999: a port is a number from 0 to 65535") {
                try await study.run("todo", "watch", "--port", "99999")
            }
            atKitchen.stop()
        }
    }

    private func told(_ sentence: String, _ body: () async throws -> Void) async {
        let failure = await #expect(throws: Failure.self) { try await body() }
        #expect(failure?.description == "Error: \(sentence)\n")
    }

    private func withMachines(_ body: (Machine, Machine) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(Machine("kitchen", in: directory), Machine("study", in: directory))
    }

    /// A port on which nothing listens.
    private func freePort() throws -> Int {
        #if canImport(Darwin)
            let stream = SOCK_STREAM
        #else
            let stream = Int32(SOCK_STREAM.rawValue)
        #endif
        let socket = socket(AF_INET, stream, 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, size) == 0 ? getsockname(socket, address, &size) : -1
            }
        }
        guard result == 0 else { throw Failure(description: "no port is free") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
