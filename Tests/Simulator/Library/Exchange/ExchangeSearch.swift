/// Tries every order in which the parts of two or three sessions can work, with up to so many writes, cuts, crashes and
/// restores at any moment between.
///
/// The sessions are the program's own, the stores are models. A state that was met before is not gone on from: what comes
/// after it is known. States are told apart by hashes of 64 bits, so a search of 10^6 states misses one with a chance of
/// less than 1 in 10^7.
public struct ExchangeSearch {
    /// How the machines stand when they meet.
    public enum Scene: String, CaseIterable, Sendable {
        /// One has records and the other none: a whole copy.
        case copy
        /// Both have records and do not know each other's: a reconciliation.
        case meeting
        /// Both have synced before, and written since.
        case changes
        /// Three in a line: the one in the middle has two sessions at once.
        case line

        func world(events: Int) throws -> ExchangeWorld {
            switch self {
            case .copy: try ExchangeWorld(records: [[], [0, 1]], haveMet: false, events: events)
            case .meeting: try ExchangeWorld(records: [[0], [0, 1]], haveMet: false, events: events)
            case .changes: try ExchangeWorld(records: [[0], [0]], haveMet: true, events: events)
            case .line: try ExchangeWorld(records: [[0], [], []], haveMet: true, events: events)
            }
        }
    }

    /// What a search came to.
    public struct Outcome: Sendable {
        public var states = 0
        /// How many steps led to states, known ones among them.
        public var steps = 0
        /// The most steps from the beginning to a state.
        public var depth = 0
        /// How many states had nothing left to do.
        public var ends = 0
    }

    /// A fault, with the fewest steps that lead to it.
    public struct Fault: Error, CustomStringConvertible {
        public let scene: Scene
        public let schedule: [String]
        public let reason: String

        public var description: String {
            let steps = schedule.enumerated().map { "  \($0 + 1). \($1)" }.joined(separator: "\n")
            return "\(scene.rawValue), \(schedule.count) steps:\n\(steps)\n\(reason)"
        }
    }

    /// A fault, and the steps on which the search came to it: not the fewest.
    private struct Found: Error {
        let schedule: [ExchangeWorld.Step]
        let reason: String
    }

    /// No exchange takes as many steps. What goes on for longer goes on for ever, in states that are always new.
    private static let mostSteps = 1000

    private let scene: Scene
    private let events: Int
    private var outcome = Outcome()
    /// The states that were met, each by its hash.
    private var met: Set<Int> = []
    /// Those on the way from the beginning to where the search is. To meet one of them again means to go round for ever.
    private var way: Set<Int> = []
    /// The steps on that way.
    private var schedule: [ExchangeWorld.Step] = []

    private init(_ scene: Scene, events: Int) {
        self.scene = scene
        self.events = events
    }

    /// Goes through all states.
    ///
    /// - Parameters:
    ///   - scene: how the machines stand.
    ///   - events: how many writes, cuts, crashes and restores may happen.
    /// - Throws: the ``Fault`` with the fewest steps.
    public static func run(_ scene: Scene, events: Int) throws -> Outcome {
        var search = ExchangeSearch(scene, events: events)
        do {
            let world = try scene.world(events: events)
            try search.visit(world, hash: Self.hash(world))
        } catch let found as Found {
            throw try search.shortest(from: found)
        }
        return search.outcome
    }

    private static func hash(_ world: ExchangeWorld) -> Int {
        var hasher = Hasher()
        world.hash(into: &hasher)
        return hasher.finalize()
    }

    private mutating func visit(_ world: ExchangeWorld, hash: Int) throws {
        met.insert(hash)
        way.insert(hash)
        defer { way.remove(hash) }
        outcome.states += 1
        outcome.depth = max(outcome.depth, schedule.count)
        let steps = world.steps
        if steps.isEmpty { outcome.ends += 1 }
        for step in steps + world.events {
            outcome.steps += 1
            schedule.append(step)
            let next: ExchangeWorld
            do {
                next = try Self.taking(step, in: world)
            } catch {
                throw Found(schedule: schedule, reason: "\(error)")
            }
            let hash = Self.hash(next)
            if way.contains(hash) || schedule.count > Self.mostSteps {
                throw Found(schedule: schedule, reason: "this goes on for ever")
            }
            if !met.contains(hash) { try visit(next, hash: hash) }
            schedule.removeLast()
        }
    }

    private static func taking(_ step: ExchangeWorld.Step, in world: ExchangeWorld) throws -> ExchangeWorld {
        var next = world
        try next.take(step)
        try next.check(isAtRest: next.steps.isEmpty)
        return next
    }

    // MARK: The smallest schedule

    /// Searches in breadth, so that the first fault has the fewest steps. What goes on for ever breaks no rule at any step, so
    /// it stays as it was found.
    private func shortest(from found: Found) throws -> Fault {
        let world = try scene.world(events: events)
        var places: [(world: ExchangeWorld, schedule: [ExchangeWorld.Step])] = [(world, [])]
        var met: Set = [Self.hash(world)]
        while let length = places.first?.schedule.count, length < found.schedule.count,
            places.count < Self.mostPlaces
        {
            var next = places
            next.removeAll()
            for place in places {
                for step in place.world.steps + place.world.events {
                    let schedule = place.schedule + [step]
                    do {
                        let world = try Self.taking(step, in: place.world)
                        if met.insert(Self.hash(world)).inserted { next.append((world, schedule)) }
                    } catch {
                        return fault(schedule, "\(error)")
                    }
                }
            }
            places = next
        }
        return fault(found.schedule, found.reason)
    }

    /// So many states of one length fit into memory.
    private static let mostPlaces = 200_000

    private func fault(_ schedule: [ExchangeWorld.Step], _ reason: String) -> Fault {
        Fault(scene: scene, schedule: schedule.map(\.description), reason: reason)
    }
}
