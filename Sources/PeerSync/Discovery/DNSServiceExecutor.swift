import Dispatch

/// A queue that runs the jobs of one actor: calls of dns_sd.h, which wait for another process, must not hold up the threads
/// that all tasks share.
final class DNSServiceExecutor: SerialExecutor {
    let queue = DispatchQueue(label: "PeerSync discovery")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
