import Synchronization

/// A wall clock that shows the time that the test has set.
package final class SetClock: Sendable {
    private let time: Mutex<Int64>

    package init(_ milliseconds: Int64) {
        time = Mutex(milliseconds)
    }

    package var milliseconds: Int64 {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}
