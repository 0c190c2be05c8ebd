import Foundation

/// A first sync into an empty scorebook, between two processes on loopback, paired and encrypted. Held against what plain C
/// takes to write the same rows, and one row of metadata for each, in one transaction (``WriteFloor``).
struct FirstSync {
    let source: SourceStore
    let directory: URL

    private var size: String { grouped(source.records) }

    func run(rounds: Int) throws -> [Figure] {
        var speed = figure("first sync of \(size) records, against C", .perSecond, .atLeast(0.5))
        var bareSpeed = figure("first sync of \(size) records, against C and bare tables", .perSecond)
        var wire = figure(
            "bytes on the wire for \(size) records, against the values' own", .bytes, .atMost(1.25))
        var store = figure("store of \(size) records, against the tables alone", .bytes, .atMost(1.6))
        var memory = [
            figure("peak memory of the sender of \(size) records, against 96 MiB", .mebibytes, .atMost(1)),
            figure("peak memory of the receiver of \(size) records, against 96 MiB", .mebibytes, .atMost(1)),
        ]
        var cpu = [
            figure("processor time of the sender of \(size) records", .microsecondsEach),
            figure("processor time of the receiver of \(size) records", .microsecondsEach),
        ]
        for round in 0..<rounds {
            // Whoever comes second may find warmer caches, so they take turns.
            let floorFirst = round.isMultiple(of: 2)
            var floor = floorFirst ? try write(.full) : nil
            let outcome = try sync()
            floor = try floor ?? write(.full)
            speed.add(outcome.speed, beside: floor?.speed)
            bareSpeed.add(outcome.speed, beside: try write(.bare).speed)
            wire.add(Double(outcome.bytes), beside: Double(source.valueBytes))
            store.add(Double(outcome.storeBytes), beside: Double(try write(.rowsOnly).bytes))
            memory[0].add(outcome.sender.peakMiB, beside: 96)
            memory[1].add(outcome.receiver.peakMiB, beside: 96)
            cpu[0].add(outcome.sender.cpuSeconds / Double(source.records) * 1e6)
            cpu[1].add(outcome.receiver.cpuSeconds / Double(source.records) * 1e6)
        }
        return [speed, bareSpeed, wire, store] + memory + cpu
    }

    private func figure(_ name: String, _ unit: Figure.Unit, _ goal: Goal? = nil) -> Figure {
        Figure(name, unit, goal: goal, size: source.records, series: name.replacing(size, with: "n"))
    }

    // MARK: The floor

    private func write(_ contents: WriteFloor.Contents) throws -> (speed: Double, bytes: Int) {
        try inNewDirectory("floor") { target in
            let path = target.appendingPathComponent("floor.sqlite").path
            let worker = try WorkerProcess(["write-floor", source.path, path, contents.rawValue])
            defer { worker.end() }
            let outcome: WriteFloor.Outcome = try worker.answer()
            return (Double(outcome.records) / outcome.seconds, try storeBytes(path))
        }
    }

    // MARK: The sync

    private struct Outcome {
        var speed: Double
        var bytes: Int
        var storeBytes: Int
        var sender: ResourceUsage
        var receiver: ResourceUsage
    }

    private func sync() throws -> Outcome {
        try inNewDirectory("target") { target in
            let server = try MachineProcess(source.directory, source.name)
            defer { server.end() }
            let client = try MachineProcess(target, "target")
            let before = (server: try server.usage(), client: try client.usage())
            let sync = try client.connect(to: server)
            guard sync.records == source.records else { throw IncompleteSync(records: sync.records) }
            let sender = try server.usage().since(before.server)
            let receiver = try client.usage().since(before.client)
            client.end()
            return Outcome(
                speed: Double(source.records) / sync.seconds, bytes: sync.bytes,
                storeBytes: try storeBytes(target.appendingPathComponent("target.sqlite").path),
                sender: sender, receiver: receiver)
        }
    }

    private func inNewDirectory<Value>(_ name: String, _ body: (URL) throws -> Value) throws -> Value {
        let target = directory.appendingPathComponent(name, isDirectory: true)
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: target) }
        return try body(target)
    }
}

/// A sync that ended without moving everything measures nothing.
struct IncompleteSync: Error {
    let records: Int
}
