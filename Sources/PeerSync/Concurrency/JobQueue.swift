/// Runs tasks that come up while something else goes on, side by side, and ends them together.
struct JobQueue: Sendable {
    typealias Job = @Sendable () async -> Void

    private let jobs: AsyncStream<Job>
    private let continuation: AsyncStream<Job>.Continuation

    init() {
        (jobs, continuation) = AsyncStream.makeStream()
    }

    /// Begins a task. After the end of ``run()`` this does nothing.
    func add(_ job: @escaping Job) { continuation.yield(job) }

    /// Runs the tasks until it is cancelled, and them with it.
    func run() async {
        await withDiscardingTaskGroup { group in
            for await job in jobs { group.addTask { await job() } }
            group.cancelAll()
        }
    }
}
