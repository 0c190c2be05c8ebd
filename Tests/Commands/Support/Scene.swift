import Foundation
import TestSupport
import Testing

/// The machines of one test. Their stores lie in a directory of the test's own; that and the processes that are still
/// running go away with the test.
final class Scene {
    private let files: TemporaryDirectory
    private var processes: [PeerProcess] = []
    private var endings: [() -> Void] = []

    fileprivate init() throws {
        files = try TemporaryDirectory()
    }

    var directory: URL { files.url }

    fileprivate func clear() {
        // What others need was started before them.
        for process in processes.reversed() {
            if process.hasCrashed { Issue.record("a program has crashed: \(process)") }
            process.destroy()
        }
        for ending in endings.reversed() { ending() }
        files.remove()
    }

    /// Calls `ending` when the test is over and none of its processes is left.
    func atEnd(_ ending: @escaping () -> Void) { endings.append(ending) }

    /// A path in the directory of the test.
    func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    func machine(_ name: String) -> Machine {
        Machine(name: name, store: directory.appendingPathComponent(name, isDirectory: true), scene: self)
    }

    /// Makes a pipe that is full, and that nobody reads.
    func fullPipe() throws -> String {
        let pipe = path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let descriptor = open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        atEnd { close(descriptor) }
        while write(descriptor, "x", 1) == 1 {}
        return pipe
    }

    /// Starts a program, the one under test if no other is named. Nothing of the environment of the tests says where a scorebook is.
    func start(
        _ arguments: [String], of program: URL = PeerProcess.program,
        environment additions: [String: String] = [:], on host: Network.Host? = nil,
        terminal: PseudoTerminal? = nil, disk: SmallDisk? = nil, output: String? = nil
    ) throws -> PeerProcess {
        var environment = ProcessInfo.processInfo.environment.filter {
            ["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FRAMEWORK_PATH"].contains($0.key)
        }
        environment["HOME"] = directory.path
        // Otherwise what is shown would depend on where the tests run.
        environment["TZ"] = "UTC"
        // No bus: nothing is found on the networks of this computer. Hosts of a test have their own.
        environment["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=\(path("no-bus"))"
        // What Foundation on macOS takes in place of HOME.
        environment["CFFIXED_USER_HOME"] = directory.path
        environment.merge(additions) { $1 }
        let process = try PeerProcess(
            program, arguments, environment: environment, host: host, terminal: terminal, disk: disk,
            output: output,
            files: directory.appendingPathComponent("process-\(processes.count + 1)", isDirectory: true))
        processes.append(process)
        return process
    }

    /// Runs the program to its end.
    func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Outcome {
        try await start(arguments, environment: environment).outcome()
    }
}

/// Runs a test in a scene of its own.
func withScene<Value>(_ body: (Scene) async throws -> Value) async throws -> Value {
    let scene = try Scene()
    defer { scene.clear() }
    return try await body(scene)
}

/// One machine.
func withMachine(_ body: (Machine) async throws -> Void) async throws {
    try await withScene { try await body($0.machine("kitchen")) }
}

/// Two machines that do not know each other.
func withTwoMachines<Value>(_ body: (Machine, Machine) async throws -> Value) async throws -> Value {
    try await withScene { try await body($0.machine("kitchen"), $0.machine("study")) }
}

/// Two machines that are paired. Nothing is running on them.
func withPair(_ body: (Machine, Machine) async throws -> Void) async throws {
    try await withTwoMachines(StoredFiles.pair, body)
}

/// Two machines that are paired and have synced the household. Nothing is running on them.
func withHousehold(_ body: (Machine, Machine) async throws -> Void) async throws {
    try await withTwoMachines(StoredFiles.household, body)
}

private func withTwoMachines(
    _ stores: Task<StoredFiles, any Error>, _ body: (Machine, Machine) async throws -> Void
) async throws {
    let stores = try await stores.value
    try await withTwoMachines { kitchen, study in
        try stores.write(to: kitchen.scene.directory)
        try await body(kitchen, study)
    }
}
