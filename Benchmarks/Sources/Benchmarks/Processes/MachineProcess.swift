import Foundation

/// A ``Machine`` as the benchmark sees it.
final class MachineProcess {
    private let worker: WorkerProcess

    init(_ directory: URL, _ name: String) throws {
        worker = try WorkerProcess(["machine", directory.path, name])
    }

    func end() { worker.end() }

    /// Begins to listen.
    ///
    /// - Returns: the port.
    func listen() throws -> Int { try worker.ask("listen", Machine.Address.self).port }

    /// A code that pairs one machine.
    func code() throws -> String { try worker.ask("code", Machine.Code.self).digits }

    func usage() throws -> ResourceUsage { try worker.ask("usage") }

    /// Pairs with a machine that listens, and syncs.
    func connect(to server: MachineProcess) throws -> Machine.Sync {
        let port = try server.listen()
        return try worker.ask("connect \(port) \(server.code())")
    }

    func sync() throws -> Machine.Sync { try worker.ask("sync") }

    func verify() throws -> Machine.Sync { try worker.ask("verify") }

    func change(_ count: Int) throws -> Double {
        try worker.ask("change \(count)", Machine.Duration.self).seconds
    }

    func changeUnnoticed(_ count: Int) throws {
        _ = try worker.ask("change-unnoticed \(count)", Machine.Duration.self)
    }

    /// Reads everything.
    ///
    /// - Returns: seconds.
    func look() throws -> Double { try worker.ask("look", Machine.Duration.self).seconds }

    var processIdentifier: Int32 { worker.processIdentifier }
}
