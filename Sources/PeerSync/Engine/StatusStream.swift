import GRDB
import PeerSyncStore
import Synchronization

/// Makes one stream of statuses out of what the store says and what the sessions tell.
final class StatusStream: Sendable {
    private struct State {
        var store: StoreStatus?
        var progress: [String: SessionStatistics] = [:]
        var last: SyncStatus?
    }

    private let state = Mutex(State())
    private let continuation: AsyncThrowingStream<SyncStatus, any Error>.Continuation

    private init(_ continuation: AsyncThrowingStream<SyncStatus, any Error>.Continuation) {
        self.continuation = continuation
    }

    /// Begins a stream. It ends with the engine, or with an error of the database.
    static func make(
        of store: RecordStore, _ events: AsyncStream<SyncEvent>
    ) -> AsyncThrowingStream<SyncStatus, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: SyncStatus.self, bufferingPolicy: .bufferingNewest(1))
        let statuses = StatusStream(continuation)
        let values = ValueObservation.tracking { db in try store.status(db) }
            .values(in: store.database, bufferingPolicy: .bufferingNewest(1))
        let reading = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    do {
                        for try await status in values { statuses.update { $0.store = status } }
                    } catch {
                        continuation.finish(throwing: error)
                    }
                }
                for await event in events { statuses.note(event) }
                continuation.finish()
                group.cancelAll()
            }
        }
        continuation.onTermination = { _ in reading.cancel() }
        return stream
    }

    private func note(_ event: SyncEvent) {
        switch event {
        case .progress(let name, let statistics): update { $0.progress[name] = statistics }
        case .inSync(let name, _, _, let statistics):
            let left = statistics.recordsLeftToSend + (statistics.recordsLeftToReceive ?? 0)
            if left == 0 { update { $0.progress[name] = nil } }
        case .disconnected(let name, _): update { $0.progress[name] = nil }
        default: break
        }
    }

    private func update(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            guard let store = state.store else { return }
            // A machine that was renamed or forgotten meanwhile has no end under its old name.
            let names = Set(store.peers.map(\.name))
            state.progress = state.progress.filter { names.contains($0.key) }
            let status = SyncStatus(store: store, progress: state.progress)
            guard status != state.last else { return }
            state.last = status
            continuation.yield(status)
        }
    }
}
