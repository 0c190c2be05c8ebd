/// A comparison of a store's stamps with the wall clock.
public struct ClockReport: Sendable, Equatable {
    /// The wall clock, in milliseconds since 1970.
    public let now: Int64
    /// The newest time that the store has issued or seen, in milliseconds since 1970; 0 for a store without any.
    public let newest: Int64
    /// The number of records, deleted ones included, with stamps so far in the future that other machines refuse them.
    public let records: Int
    /// Whether ``StoreClock/repair(_:allowedSkew:)`` has anything to do.
    public let needsRepair: Bool
}
