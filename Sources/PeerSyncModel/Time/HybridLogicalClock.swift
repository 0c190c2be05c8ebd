/// Issues stamp times that are greater than every time this replica has issued or seen.
///
/// Invariant: `last` never goes back. The store keeps it in the same transaction as the writes it stamped, so
/// the promise survives restarts and clocks that are set back.
public struct HybridLogicalClock: Sendable, Equatable {
    /// The greatest time issued or seen.
    public private(set) var last: HybridTime

    /// Makes a clock that has issued or seen nothing after `last`.
    public init(last: HybridTime = HybridTime(rawValue: 0)) {
        self.last = last
    }

    /// Returns the time of a local write when the wall clock shows `milliseconds` since 1970.
    ///
    /// A counter that overflows carries into the milliseconds.
    public mutating func tick(milliseconds: Int64) -> HybridTime {
        let wall = HybridTime(milliseconds: milliseconds)
        last = max(wall, last.next)
        return last
    }

    /// Moves the clock to a time from a record of another replica, if that time is later.
    public mutating func observe(_ time: HybridTime) {
        last = max(last, time)
    }
}
