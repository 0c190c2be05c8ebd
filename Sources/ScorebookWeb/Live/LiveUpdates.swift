import HTTPTypes
import Hummingbird
import NIOCore
import Scorebook
import Synchronization

/// Tells the open pages that something has changed (server-sent events). Each then asks again for what it shows.
final class LiveUpdates: Sendable {
    /// A comment goes this often, so that no proxy and no timeout ends a connection on which nothing happens.
    private static let pulse: Duration = .seconds(20)
    private static let change = "event: change\ndata:\n\n"

    private let scorebook: ScorebookStore
    private let state = Mutex(State())
    /// Tells when a page opens or closes. Several at once count as one.
    private let comingsAndGoings: AsyncStream<Void>
    private let comeOrGone: AsyncStream<Void>.Continuation

    private struct State {
        var readers: [Int: Reader] = [:]
        var next = 0
    }

    /// An open page.
    private struct Reader {
        /// Wakes the answer. Several calls while it writes wake it once.
        let wake: AsyncStream<Void>.Continuation
        /// Whether something has changed that the page has not heard of.
        var hasNews = false
    }

    init(_ scorebook: ScorebookStore) {
        self.scorebook = scorebook
        (comingsAndGoings, comeOrGone) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Watches the scorebook until cancelled, as long as somebody reads: looking for what other programs wrote costs.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                var watch: Task<Void, Never>?
                for await _ in comingsAndGoings {
                    let isRead = state.withLock { !$0.readers.isEmpty }
                    if isRead, watch == nil {
                        watch = Task { [self] in
                            for await _ in scorebook.changes() { wake(hasNews: true) }
                        }
                    } else if !isRead {
                        watch?.cancel()
                        watch = nil
                    }
                }
                watch?.cancel()
            }
            group.addTask { [self] in
                while (try? await Task.sleep(for: Self.pulse)) != nil { wake(hasNews: false) }
            }
            await group.waitForAll()
        }
        for reader in state.withLock({ $0.readers.values }) { reader.wake.finish() }
    }

    /// Tells the open pages of something that is not in the scorebook.
    func tell() { wake(hasNews: true) }

    private func wake(hasNews: Bool) {
        state.withLock { state in
            for id in state.readers.keys {
                if hasNews { state.readers[id]?.hasNews = true }
                state.readers[id]?.wake.yield()
            }
        }
    }

    /// The answer that lasts as long as somebody may read it. Changes that come while a slow reader takes in one are told as one.
    ///
    /// - Parameter mayRead: asked before each word. The page of whoever may not any more is told of a change, and hears so when it
    ///   asks for itself again.
    func response(while mayRead: @escaping @Sendable () async throws -> Bool) -> Response {
        let (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.next += 1
            // The page may have become old before it listened.
            state.readers[state.next] = Reader(wake: wake, hasNews: true)
            return state.next
        }
        wake.yield()
        comeOrGone.yield()
        wake.onTermination = { [weak self] _ in
            self?.state.withLock { $0.readers[id] = nil }
            self?.comeOrGone.yield()
        }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream"],
            body: ResponseBody { [self] writer in
                defer { wake.finish() }
                try await writer.write(ByteBuffer(string: "retry: 1000\n\n"))
                for await _ in wakes.cancelOnGracefulShutdown() {
                    guard try await mayRead() else {
                        try await writer.write(ByteBuffer(string: Self.change))
                        break
                    }
                    try await writer.write(
                        ByteBuffer(string: takeNews(id) ? Self.change : ":\n\n"))
                }
                try await writer.finish(nil)
            })
    }

    private func takeNews(_ id: Int) -> Bool {
        state.withLock { state in
            let hasNews = state.readers[id]?.hasNews == true
            state.readers[id]?.hasNews = false
            return hasNews
        }
    }
}
