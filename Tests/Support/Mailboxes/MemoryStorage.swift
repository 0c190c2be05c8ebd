import PeerSyncMailbox
import Synchronization
import TestSupport

/// What several machines of a test see of one storage.
package final class MemoryDisk: Sendable {
    fileprivate struct Object {
        var bytes: [UInt8]
        let writer: Int
        /// Whether others than its writer see it.
        var hasArrived: Bool
    }

    fileprivate struct State {
        var objects: [MailboxObjectName: Object] = [:]
        var machines = 0
        var isLate = false
    }

    fileprivate let state = Mutex(State())

    package init() {}

    /// Everything that was put, whoever sees it.
    package var objects: [MailboxObjectName: [UInt8]] {
        get { state.withLock { $0.objects.mapValues(\.bytes) } }
        set {
            state.withLock { state in
                state.objects = newValue.mapValues { Object(bytes: $0, writer: -1, hasArrived: true) }
            }
        }
    }

    /// Whether others see later what a machine puts from now on: ``deliver(_:)``.
    package var isLate: Bool {
        get { state.withLock { $0.isLate } }
        set { state.withLock { $0.isLate = newValue } }
    }

    /// Lets others see some of what was put, in any order; all of it without a generator.
    package func deliver(_ generator: inout SeededGenerator) {
        state.withLock { state in
            for name in state.objects.keys.sorted() where generator.oneIn(3) {
                state.objects[name]?.hasArrived = true
            }
        }
    }

    /// Lets others see all that was put.
    package func deliverAll() {
        state.withLock { state in
            for name in state.objects.keys { state.objects[name]?.hasArrived = true }
        }
    }

    /// Changes an object behind everybody's back.
    package func change(_ name: MailboxObjectName, _ body: (inout [UInt8]) -> Void) {
        state.withLock { state in
            if state.objects[name] != nil { body(&state.objects[name]!.bytes) }
        }
    }
}

/// A storage in memory that fails as tests want it: one machine's view of a ``MemoryDisk``.
package final class MemoryStorage: MailboxStorage {
    /// How many calls there were.
    package struct Counts: Sendable, Equatable {
        package var puts = 0
        package var gets = 0
        package var lists = 0
        package var deletes = 0
        package var bytesPut = 0
        package var bytesGot = 0

        package init(lists: Int = 0) { self.lists = lists }
    }

    /// What goes wrong.
    package struct Faults: Sendable {
        /// After so many puts and deletes, everything fails.
        package var writesLeft: Int?
        /// Whether the write at which that begins is done all the same: nobody can know.
        package var doesLastWrite = false
        /// What each put fails with.
        package var putError: MailboxError.Code?
        /// What each call fails with.
        package var error: MailboxError.Code?

        package init() {}
    }

    private struct State {
        var counts = Counts()
        var faults = Faults()
    }

    private let disk: MemoryDisk
    private let machine: Int
    private let state = Mutex(State())

    package init(_ disk: MemoryDisk) {
        self.disk = disk
        machine = disk.state.withLock { state in
            state.machines += 1
            return state.machines
        }
    }

    package var counts: Counts {
        get { state.withLock { $0.counts } }
        set { state.withLock { $0.counts = newValue } }
    }

    package var faults: Faults {
        get { state.withLock { $0.faults } }
        set { state.withLock { $0.faults = newValue } }
    }

    package func put(_ name: MailboxObjectName, _ bytes: [UInt8]) async throws {
        let isDone = try begin(isWrite: true) { counts in
            counts.puts += 1
            counts.bytesPut += bytes.count
        }
        if let code = faults.putError { throw MailboxError(code, "a put failed") }
        disk.state.withLock { state in
            let isLate = state.isLate
            state.objects[name] = MemoryDisk.Object(bytes: bytes, writer: machine, hasArrived: !isLate)
        }
        guard isDone else { throw Self.cut }
    }

    package func get(_ name: MailboxObjectName) async throws -> [UInt8]? {
        _ = try begin { $0.gets += 1 }
        let bytes = disk.state.withLock { visible($0, name)?.bytes }
        state.withLock { $0.counts.bytesGot += bytes?.count ?? 0 }
        return bytes
    }

    package func list(_ folder: MailboxFolder) async throws -> [MailboxObject] {
        _ = try begin { $0.lists += 1 }
        return disk.state.withLock { state in
            state.objects.keys.filter { $0.folder == folder && visible(state, $0) != nil }
                .map { MailboxObject(name: $0, size: Int64(state.objects[$0]!.bytes.count)) }
        }
    }

    package func delete(_ name: MailboxObjectName) async throws {
        let isDone = try begin(isWrite: true) { $0.deletes += 1 }
        disk.state.withLock { _ = $0.objects.removeValue(forKey: name) }
        guard isDone else { throw Self.cut }
    }

    private func visible(_ state: MemoryDisk.State, _ name: MailboxObjectName) -> MemoryDisk.Object? {
        state.objects[name].flatMap { $0.hasArrived || $0.writer == machine ? $0 : nil }
    }

    private static let cut = MailboxError(.unreachable, "the storage was cut off")

    /// Counts a call.
    ///
    /// - Returns: whether its result is known to the caller.
    private func begin(isWrite: Bool = false, _ count: (inout Counts) -> Void) throws -> Bool {
        try state.withLock { state in
            if let code = state.faults.error { throw MailboxError(code, "the storage failed") }
            guard let left = state.faults.writesLeft else {
                count(&state.counts)
                return true
            }
            if left <= 0, !isWrite || left < 0 || !state.faults.doesLastWrite { throw Self.cut }
            count(&state.counts)
            if isWrite { state.faults.writesLeft = left - 1 }
            return left > 0
        }
    }
}
