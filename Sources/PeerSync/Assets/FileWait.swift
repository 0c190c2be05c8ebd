/// The wait of a caller that came to sync once for the other side to get the files that it wants.
///
/// The wait begins when the records are in sync, and begins again with each step of a file.
struct FileWait: Sendable {
    private var begin: ContinuousClock.Instant?

    /// Begins the wait: the records are in sync, and the files are not done. Later calls change nothing.
    mutating func start(at now: ContinuousClock.Instant = .now) { begin = begin ?? now }

    /// Begins the wait again, because a part of a file has come or gone.
    mutating func step(at now: ContinuousClock.Instant = .now) {
        if begin != nil { begin = now }
    }

    func isOver(after limit: Duration, at now: ContinuousClock.Instant = .now) -> Bool {
        begin.map { now - $0 >= limit } ?? false
    }
}
