import Foundation
import PeerSync

/// What a scorebook has to know of the person at the machine to understand what they type.
public struct Habits: Sendable {
    /// What the person is doing, so that ``ScorebookStore/undo()`` can take it back as one.
    public struct Command: Sendable, Equatable {
        /// As in `match edit`.
        public let name: String
        /// Differs for each run.
        public let run: String

        /// Names a run of a command.
        public init(name: String, run: String) {
            self.name = name
            self.run = run
        }
    }

    /// The zone in which they read and write dates; nil for that of the machine.
    public var timeZone: TimeZone?
    /// Returns the record that has a number in the list of its kind that the person saw last.
    public var numbered: @Sendable (RecordKind, Int) -> RecordName?
    /// What the person meant by texts that fit several records.
    public var chosen: [RecordChoice.Question: RecordName] = [:]

    /// The zone in use: new records go there, and names are looked up there first.
    public var zone: Zone?

    /// Whether the person wants to write what no other machine takes. It stays on this machine then.
    public var keepsRefusedWrites = false

    /// The command that writes; nil if nobody will want to take back what is written.
    public var command: Command?

    /// - Parameter numbered: by default there is no list.
    public init(
        timeZone: TimeZone? = nil,
        numbered: @escaping @Sendable (RecordKind, Int) -> RecordName? = { _, _ in nil }
    ) {
        self.timeZone = timeZone
        self.numbered = numbered
    }
}
