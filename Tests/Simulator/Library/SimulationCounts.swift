/// The counts of what simulations did, so that a simulation that exercised nothing is noticed.
public struct SimulationCounts: Sendable {
    public var runs = 0
    public var writes = 0
    public var sessions = 0
    public var cuts = 0
    /// How many times two machines had two connections.
    public var doubles = 0
    public var recordsMoved = 0
    public var filesMoved = 0
    public var deletions = 0
    public var revivals = 0
    public var holds = 0
    public var restores = 0
    public var upgrades = 0
    public var resyncs = 0
    public var pairings = 0
    public var reconciliations = 0
    public var purged = 0
    public var startOvers = 0
    public var partings = 0
    /// Machines that became peers because others have introduced them, and machines that were removed from a household.
    public var introductions = 0
    public var removals = 0
    /// Records that are hidden in the end.
    public var hidden = 0
    /// Deleted records that a user has restored.
    public var undone = 0
    /// What users have allowed or refused.
    public var decisions = 0

    public init() {}

    public static func += (left: inout SimulationCounts, right: SimulationCounts) {
        left.runs += right.runs
        left.writes += right.writes
        left.sessions += right.sessions
        left.cuts += right.cuts
        left.doubles += right.doubles
        left.recordsMoved += right.recordsMoved
        left.filesMoved += right.filesMoved
        left.deletions += right.deletions
        left.revivals += right.revivals
        left.holds += right.holds
        left.restores += right.restores
        left.upgrades += right.upgrades
        left.resyncs += right.resyncs
        left.pairings += right.pairings
        left.reconciliations += right.reconciliations
        left.purged += right.purged
        left.startOvers += right.startOvers
        left.partings += right.partings
        left.introductions += right.introductions
        left.removals += right.removals
        left.hidden += right.hidden
        left.undone += right.undone
        left.decisions += right.decisions
    }
}
