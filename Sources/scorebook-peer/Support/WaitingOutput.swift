import PeerSync
import Synchronization

/// What waits to be printed, in its order. Whoever adds to it never waits, and what waits does not grow without limit.
final class WaitingOutput: Sendable {
    /// The most that waits. If printing is slower, the oldest is lost.
    static let limit = 1000

    private let items = Mutex<[LiveOutput.Item]>([])
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init() {
        (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds something. Progress takes the place of older progress of the same kind that nobody has printed.
    func add(_ item: LiveOutput.Item) {
        items.withLock { items in
            if let kind = item.progress, let old = items.lastIndex(where: { $0.progress == kind }) {
                items.remove(at: old)
            }
            items.append(item)
            if items.count > Self.limit { items.removeFirst() }
        }
        wake.yield()
    }

    /// Says that nothing is added any more.
    func finish() { wake.finish() }

    /// Hands over everything in its order, until somebody says that nothing is added any more.
    func drain(_ body: (LiveOutput.Item) async -> Void) async {
        for await _ in wakes { for item in take() { await body(item) } }
        for item in take() { await body(item) }
    }

    private func take() -> [LiveOutput.Item] {
        items.withLock { items in
            defer { items = [] }
            return items
        }
    }
}

extension LiveOutput.Item {
    /// Whose progress this tells, and of what; nil if it tells something else.
    fileprivate var progress: [String]? {
        switch self {
        case .event(.progress(let name, _)): ["records", name]
        case .event(.assetProgress(let name, _, _)): ["files", name]
        default: nil
        }
    }
}
