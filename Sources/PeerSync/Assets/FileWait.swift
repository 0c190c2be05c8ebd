/// How long a caller that came to sync once waits until the other side has the files that it wants.
///
/// The wait begins when the records are in sync, and anew with each step that the files take.
struct FileWait: Sendable {
    private var begin: ContinuousClock.Instant?

    /// The records are in sync, and the files are not done. Later calls change nothing.
    mutating func start(at now: ContinuousClock.Instant = .now) { begin = begin ?? now }

    /// Something of a file has come or gone.
    mutating func step(at now: ContinuousClock.Instant = .now) {
        if begin != nil { begin = now }
    }

    func isOver(after limit: Duration, at now: ContinuousClock.Instant = .now) -> Bool {
        begin.map { now - $0 >= limit } ?? false
    }
}
