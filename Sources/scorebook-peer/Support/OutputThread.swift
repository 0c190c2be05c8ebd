import Dispatch

/// The thread that writes the output of commands that run for long.
///
/// A write takes as long as nobody reads: behind `less`, after Ctrl-S, in a session that hangs. Tasks share few threads, so
/// none of these may write. A task with this executor runs here alone.
final class OutputThread: TaskExecutor {
    static let shared = OutputThread()

    private static let mark = DispatchSpecificKey<Void>()

    /// A serial queue has a thread of its own, unlike those of the tasks.
    private let queue = DispatchQueue(label: "output")

    private init() { queue.setSpecific(key: Self.mark, value: ()) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Waits until what was handed over is written, or until the deadline. Does not wait for itself.
    func wait(until deadline: DispatchTime) {
        guard DispatchQueue.getSpecific(key: Self.mark) == nil else { return }
        queue.wait(until: deadline)
    }
}

extension DispatchQueue {
    /// Waits until a serial queue has done what it got before, or until the deadline.
    func wait(until deadline: DispatchTime) {
        let turn = DispatchSemaphore(value: 0)
        async { turn.signal() }
        _ = turn.wait(timeout: deadline)
    }
}
