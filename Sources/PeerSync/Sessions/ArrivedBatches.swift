import PeerSyncModel
import PeerSyncProtocol
import Synchronization

/// A batch with the hashes of its records, which the reader computes so that the writer need not.
struct ArrivedBatch: Sendable {
    let batch: ChangeBatch
    let hashes: [RecordHashes]

    init(_ batch: ChangeBatch) {
        self.batch = batch
        var hasher = RecordHasher()
        hashes = batch.records.map { hasher.hashes(of: $0) }
    }
}

/// The batches of one zone that have come and are not applied yet, in order. While one is written, the reader decrypts
/// and decodes the next ones; those that wait when a transaction is open join it.
///
/// One task puts batches in, and another takes them out.
final class ArrivedBatches: Sendable {
    /// The turns for decoded batches that wait, over all zones of a session, so that the next batch is ready in time.
    /// A batch has a turn from before it is put in until it is taken out.
    private let room: AsyncSemaphore

    private struct State {
        var waiting: [ArrivedBatch] = []
        /// Batches that are applied. The task that puts batches in frees them, because freeing many records takes
        /// time.
        var spent: [ArrivedBatch] = []
        /// How many batches were put in and are not settled.
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

    /// Puts a batch in when there is room. After ``close()`` this drops the batch.
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

    /// Waits until all batches that were put in are settled.
    func drained() async {
        while state.withLock({ $0.unsettled > 0 && !$0.isClosed }) {
            guard await settlement.wait() else { return }
        }
    }

    // MARK: The side that takes out

    /// Waits for the next batch. Returns nil after ``close()``, or when the task is cancelled.
    func first() async -> ArrivedBatch? {
        while true {
            if let batch = next() { return batch }
            guard !state.withLock({ $0.isClosed }), await arrival.wait() else { return nil }
        }
    }

    /// Takes the next batch, if there is one.
    func next() -> ArrivedBatch? {
        let batch = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
        if batch != nil { room.signal() }
        return batch
    }

    /// Hands back a batch that the writer no longer needs.
    func letGo(_ batch: ArrivedBatch) {
        state.withLock { $0.spent.append(batch) }
    }

    /// Notes that batches are applied and the peer knows it.
    func settle(_ count: Int) {
        let spent = state.withLock { state in
            state.unsettled -= count
            // The task that puts batches in may not come again for long, so this task frees them.
            guard state.unsettled == 0 else { return [ArrivedBatch]() }
            defer { state.spent = [] }
            return state.spent
        }
        withExtendedLifetime(spent) { settlement.raise() }
    }

    /// Drops all batches that wait, and ends all waits: nothing more is applied.
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
