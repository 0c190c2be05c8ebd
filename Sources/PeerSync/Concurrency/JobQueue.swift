/// A queue of tasks that run side by side, and end together.
struct JobQueue: Sendable {
    typealias Job = @Sendable () async -> Void

    private let jobs: AsyncStream<Job>
    private let continuation: AsyncStream<Job>.Continuation

    init() {
        (jobs, continuation) = AsyncStream.makeStream()
    }

    /// Begins a task. After the end of ``run()`` this does nothing.
    func add(_ job: @escaping Job) { continuation.yield(job) }

    /// Runs the tasks until cancelled, then cancels them.
    func run() async {
        await withDiscardingTaskGroup { group in
            for await job in jobs { group.addTask { await job() } }
            group.cancelAll()
        }
    }
}
