import Foundation
import GRDB
import PeerSyncModel
import PeerSyncProtocol

/// The names of generations in the vectors. Stores draw their generations at random, so the vectors number them in the
/// order in which the stores add them. Everything else in a token is fixed.
package final class SessionTokens {
    private var names: [[UInt8]: [UInt8]] = [ChangeToken.start.generation: ChangeToken.start.generation]
    private var generations: [[UInt8]: [UInt8]] = [:]
    /// The generations that each store has added, by the machine's tag.
    private var added: [UInt8: [[UInt8]]] = [:]
    /// The names for the next generations, if the caller gave any.
    private var next: [[UInt8]] = []

    package init() {}

    /// - Parameters:
    ///   - kept: generations that keep their names.
    ///   - next: the names for the generations that the store of one machine adds, in that order.
    package init(keeping kept: some Sequence<[UInt8]>, next: [[UInt8]]) {
        for generation in kept { names[generation] = generation }
        self.next = next
    }

    /// The names that no store has used yet.
    package var left: [[UInt8]] { next }

    /// Finds the generations that a store has added. This must come before a message that names them.
    package func look(at machine: SessionMachine) throws {
        let generations = try machine.read { db in
            try Data.fetchAll(db, sql: "SELECT id FROM grdb_sync_storeGeneration ORDER BY firstSequence").map(
                Array.init)
        }
        for generation in generations where names[generation] == nil {
            let number = UInt8(added[machine.tag, default: []].count + 1)
            let name = next.isEmpty ? [machine.tag, 0, 0, 0, 0, 0, 0, number] : next.removeFirst()
            names[generation] = name
            self.generations[name] = generation
            added[machine.tag, default: []].append(name)
        }
    }

    /// The generations that a machine's store has added so far.
    func added(by machine: SessionMachine) -> [[UInt8]] { added[machine.tag] ?? [] }

    func name(_ generation: [UInt8]) -> [UInt8] {
        guard let name = names[generation] else {
            preconditionFailure("a generation that no store has added: \(generation.hexadecimal)")
        }
        return name
    }

    func renamed(_ token: ChangeToken) -> ChangeToken { Self.replacing(name, in: token) }

    /// Replaces the generations in a message by their names.
    package func renamed(_ message: Message) -> Message { Self.replacing(name, in: message) }

    /// Replaces the names in a message by their generations.
    package func original(_ message: Message) -> Message {
        Self.replacing({ generations[$0] ?? $0 }, in: message)
    }

    private static func replacing(_ change: ([UInt8]) -> [UInt8], in token: ChangeToken) -> ChangeToken {
        ChangeToken(generation: change(token.generation), sequence: token.sequence, horizon: token.horizon)
    }

    private static func replacing(_ change: ([UInt8]) -> [UInt8], in message: Message) -> Message {
        func replacing(_ token: ChangeToken) -> ChangeToken { Self.replacing(change, in: token) }
        switch message {
        case .open(var open):
            for index in open.zones.indices {
                open.zones[index].received = open.zones[index].received.map(replacing)
            }
            return .open(open)
        case .batch(let zone, var batch):
            batch.token = replacing(batch.token)
            return .batch(zone: zone, batch)
        case .acknowledge(let zone, let token):
            return .acknowledge(zone: zone, replacing(token))
        case .digest(let zone, var summary):
            summary.current = replacing(summary.current)
            summary.received = summary.received.map(replacing)
            return .digest(zone: zone, summary)
        default: return message
        }
    }
}
