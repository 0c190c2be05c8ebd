import Foundation
import TestSupport
import Testing

/// A machine with a store, driven through the command line as a user or a script does.
struct Machine {
    let name: String
    let store: URL
    let scene: Scene
    /// By how much the clock of its processes is off, if it is.
    private(set) var clockShift: String?
    /// The host that its processes run on, if not this one.
    private(set) var host: Network.Host?

    init(name: String, store: URL, scene: Scene) {
        self.name = name
        self.store = store
        self.scene = scene
    }

    /// The same machine with another time; see ``ShiftedClock``.
    func shifted(by shift: String) -> Machine {
        var machine = self
        machine.clockShift = shift
        return machine
    }

    /// The same machine on a host of its own.
    func on(_ host: Network.Host) -> Machine {
        var machine = self
        machine.host = host
        return machine
    }

    // MARK: Commands

    /// Starts a command on the machine's store.
    ///
    /// - Parameters:
    ///   - terminal: where somebody answers its questions.
    ///   - disk: a directory with little room.
    func start(
        _ arguments: [String], at terminal: PseudoTerminal? = nil, with disk: SmallDisk? = nil,
        output: String? = nil
    ) throws -> PeerProcess {
        var environment = try clockShift.map { try ShiftedClock.environment($0) } ?? [:]
        var arguments = arguments
        if let bus = host?.bus {
            environment["DBUS_SYSTEM_BUS_ADDRESS"] = bus
        } else if Self.discovers(arguments) {
            // Nobody else on the network of this computer is to hear of the tests, nor the tests of them.
            arguments.append("--no-discovery")
        }
        return try scene.start(
            arguments + ["--store", store.path, "--new"], environment: environment, on: host,
            terminal: terminal, disk: disk, output: output)
    }

    /// Whether a command looks for machines on the network.
    private static func discovers(_ arguments: [String]) -> Bool {
        switch arguments.first {
        case "listen", "connect", "pair", "verify", "reset": true
        case "peers": arguments.dropFirst().first.map { $0 == "list" || $0.hasPrefix("--") } ?? true
        default: false
        }
    }

    /// Runs a command to its end, whatever that is.
    func run(_ arguments: String...) async throws -> Outcome {
        try await start(arguments).outcome()
    }

    /// Runs a command that has to succeed, and gives what it printed.
    @discardableResult
    func peer(_ arguments: String...) async throws -> String {
        try await succeed(arguments)
    }

    /// Runs a command that has to succeed, and reads the JSON that it printed.
    @discardableResult
    func json<Value: Decodable>(_ type: Value.Type = Value.self, _ arguments: String...) async throws -> Value
    {
        let output = try await succeed(arguments + ["--json"])
        return try JSONDecoder().decode(type, from: Data(output.utf8))
    }

    private func succeed(_ arguments: [String]) async throws -> String {
        let outcome = try await start(arguments).outcome()
        guard outcome.exitCode == 0 else { throw CommandFailed(arguments: arguments, outcome: outcome) }
        return outcome.output
    }

    func status() async throws -> Status {
        // The status of a directory without a scorebook makes none.
        if !FileManager.default.fileExists(atPath: databaseFile.path) { try await makeStore() }
        return try await json(Status.self, "status")
    }

    /// Begins an empty scorebook.
    func makeStore() async throws { try await peer("peers") }

    func digest() async throws -> String { try await status().digest }

    func importHousehold() async throws { try await peer("import", Household.path) }

    /// - Returns: the record name.
    @discardableResult
    func addGame(_ name: String) async throws -> String {
        try await json(RecordLine.self, "game", "add", name).recordName
    }

    /// Adds a match with one player, who is added as a person if nobody knows them.
    ///
    /// - Returns: the record name.
    @discardableResult
    func addMatch(_ game: String, _ player: String) async throws -> String {
        try await json(RecordLine.self, "match", "add", game, player, "--new-persons").recordName
    }

    // MARK: Syncing

    /// Listens on a free port.
    func listen(pair: Bool = false, port: Int = 0, extra: [String] = []) async throws -> Listener {
        let address = host?.address ?? "127.0.0.1"
        let arguments = ["listen", "--host", address, "--port", "\(port)", "--name", name, "--json"]
        let process = try start(arguments + (pair ? ["--pair"] : []) + extra)
        let port = try #require(try await process.event("listening").port)
        let code = pair ? try await process.event("pairingCode").code : nil
        return Listener(process: process, host: address, port: port, code: code)
    }

    /// Connects and stays connected.
    func connect(to listener: Listener) async throws -> PeerProcess {
        let process = try start(["connect", listener.address, "--name", name, "--json"])
        try await process.event("connected")
        return process
    }

    /// Syncs once, as a script does.
    @discardableResult
    func sync(_ listener: Listener) async throws -> SyncFigures {
        try await json(SyncFigures.self, "connect", listener.address, "--once")
    }

    /// Syncs once with a machine on which nothing is running.
    @discardableResult
    func sync(with other: Machine) async throws -> SyncFigures {
        let listener = try await other.listen()
        let figures = try await sync(listener)
        try await listener.stop()
        return figures
    }

    /// Pairs with a machine on which nothing is running.
    func pair(with other: Machine) async throws {
        let listener = try await other.listen(pair: true)
        let code = try #require(listener.code)
        try await peer("connect", listener.address, "--code", code, "--once", "--name", name)
        // The caller may be done before the other side has taken note of it.
        try await listener.process.event("inSync")
        try await listener.stop()
    }
}

/// Whether machines hold the same records, by what they say themselves.
func haveEqualDigests(_ machines: Machine...) async throws -> Bool {
    var digests: Set<String> = []
    for machine in machines { digests.insert(try await machine.digest()) }
    return digests.count == 1
}

/// A `listen` that is running.
struct Listener {
    let process: PeerProcess
    let host: String
    let port: Int
    /// The code that it shows, if it was asked for one.
    let code: String?

    var address: String { "\(host):\(port)" }

    /// Another code than the one that is shown; a new one for each number up to 8.
    func wrongCode(_ number: Int = 1) throws -> String {
        let digits = try #require(code).map { $0 }
        let first = try #require(digits[0].wholeNumberValue)
        return "\((first + number) % 10)" + String(digits.dropFirst())
    }

    /// Ends it as Ctrl-C does.
    func stop() async throws {
        process.signal(SIGINT)
        let exitCode = try await process.end()
        guard exitCode == 0 else { throw UnexpectedEnd(process: "\(process)\nexit code \(exitCode)") }
    }
}

/// A command that had to succeed did not.
struct CommandFailed: Error {
    let arguments: [String]
    let outcome: Outcome
}

/// The invented data that ships with the project.
enum Household {
    static let path = Repository.root.appendingPathComponent("scripts/data/household.bgstats.json").path
    /// How many records an import of it makes.
    static let recordCount = 3007
}
