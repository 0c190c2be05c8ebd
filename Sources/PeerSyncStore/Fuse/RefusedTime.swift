import PeerSyncModel

/// The times of values that a person has refused. They lie before the year 2000, as those of no write do, so such a value loses
/// against whatever another machine has, and nobody is asked about its loss (Protocol/protocol.md section 7.14).
enum RefusedTime {
    /// The first time that is no such one.
    private static let end = HybridTime(milliseconds: 946_684_800_000)

    /// How far such a time lies before now, in units of ``HybridTime/rawValue``: 50 years.
    private static let distance: UInt64 = (50 * 365 * 86_400_000) << 16

    /// The time that a value gets which is refused now. Each moment gives another one, so no stamp ever names two values.
    static func time(at now: HybridTime) -> HybridTime {
        let past = now.rawValue < distance ? now.rawValue : now.rawValue - distance
        return HybridTime(rawValue: past % end.rawValue)
    }

    /// Whether a value with that time was refused.
    static func contains(_ time: HybridTime) -> Bool { time < end }
}
