/// What a store's stamps say when they are held against the wall clock.
public struct ClockReport: Sendable, Equatable {
    /// The wall clock, in milliseconds since 1970.
    public let now: Int64
    /// The newest time that the store has issued or seen, in milliseconds since 1970; 0 for a store without any.
    public let newest: Int64
    /// How many records, deleted ones included, have stamps so far in the future that other machines refuse them.
    public let records: Int
    /// Whether there is something for ``StoreClock/repair(_:allowedSkew:)`` to do.
    public let needsRepair: Bool
}
