import Synchronization

/// A task that goes on only when the test lets it. So the test knows that the task waits, and need not wait itself.
final class SteppedTask: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let isDone = Mutex(false)

    init(_ body: @escaping @Sendable () async -> Void) {
        Task(executorPreference: self) {
            await body()
            self.isDone.withLock { $0 = true }
        }
    }

    var hasEnded: Bool { isDone.withLock { $0 } }

    /// Returns when the task waits for something, or has ended.
    func run() {
        while let job = jobs.withLock({ $0.popLast() }) {
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }
}
