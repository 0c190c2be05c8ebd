import SyncModel
import SyncProtocol
import Synchronization

/// A batch, with the hashes of its records, which whoever writes them then need not compute.
struct ArrivedBatch: Sendable {
    let batch: ChangeBatch
    let hashes: [RecordHashes]

    init(_ batch: ChangeBatch) {
        self.batch = batch
        var hasher = RecordHasher()
        hashes = batch.records.map { hasher.hashes(of: $0) }
    }
}

/// Batches of one zone that have come and were not applied yet, in order: the next ones are decrypted and decoded while
/// one is written, and what waits when a transaction is open goes into the same one.
///
/// One task puts batches in, another one takes them out.
final class ArrivedBatches: Sendable {
    /// So many are decoded and wait, over all zones of a session, so that the next one is there when it is wanted. Whoever
    /// puts one in takes a turn first; it ends when the batch is taken out.
    private let room: AsyncSemaphore

    private struct State {
        var waiting: [ArrivedBatch] = []
        /// Batches that are applied. The side that puts in lets go of them, which for many records takes its time.
        var spent: [ArrivedBatch] = []
        /// Batches that were put in and are not settled.
        var unsettled = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let arrival = Signal()
    private let settlement = Signal()

    init(room: AsyncSemaphore) {
        self.room = room
    }

    // MARK: The side that puts in

    /// Puts a batch in, when there is room. After ``close()`` it is dropped.
    func put(_ batch: ArrivedBatch) async throws {
        try await room.wait()
        let (isIn, spent) = state.withLock { state in
            let spent = state.spent
            state.spent = []
            guard !state.isClosed else { return (false, spent) }
            state.waiting.append(batch)
            state.unsettled += 1
            return (true, spent)
        }
        defer { withExtendedLifetime(spent) {} }
        guard isIn else { return room.signal() }
        arrival.raise()
    }

    /// Waits until everything that was put in is settled.
    func drained() async {
        while state.withLock({ $0.unsettled > 0 && !$0.isClosed }) {
            guard await settlement.wait() else { return }
        }
    }

    // MARK: The side that takes out

    /// The next batch, as soon as there is one; nil after ``close()``, and when the task is cancelled.
    func first() async -> ArrivedBatch? {
        while true {
            if let batch = next() { return batch }
            guard !state.withLock({ $0.isClosed }), await arrival.wait() else { return nil }
        }
    }

    /// The next batch, if there is one.
    func next() -> ArrivedBatch? {
        let batch = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
        if batch != nil { room.signal() }
        return batch
    }

    /// A batch that was taken out is not needed any more.
    func letGo(_ batch: ArrivedBatch) {
        state.withLock { $0.spent.append(batch) }
    }

    /// Batches that were taken out are applied, and the other side was told.
    func settle(_ count: Int) {
        let spent = state.withLock { state in
            state.unsettled -= count
            // The side that puts in may not come again for long.
            guard state.unsettled == 0 else { return [ArrivedBatch]() }
            defer { state.spent = [] }
            return state.spent
        }
        withExtendedLifetime(spent) { settlement.raise() }
    }

    /// Nothing more is applied: what waits is dropped, and nobody waits any more.
    func close() {
        let dropped = state.withLock { state in
            state.isClosed = true
            defer { (state.waiting, state.spent) = ([], []) }
            return state.waiting.count
        }
        for _ in 0..<dropped { room.signal() }
        arrival.raise()
        settlement.raise()
    }
}
