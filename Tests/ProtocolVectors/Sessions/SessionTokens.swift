import Foundation
import GRDB
import SyncModel
import SyncProtocol

/// Stores draw their generations at random. The vectors have numbers in their place, in the order in which the stores add
/// them: everything else in a token is fixed.
package final class SessionTokens {
    private var names: [[UInt8]: [UInt8]] = [ChangeToken.start.generation: ChangeToken.start.generation]
    /// By tag of the machine.
    private var added: [UInt8: [[UInt8]]] = [:]

    package init() {}

    /// Looks for generations that a store has added. They must be looked for before a message names them.
    func look(at machine: SessionMachine) throws {
        let generations = try machine.read { db in
            try Data.fetchAll(db, sql: "SELECT id FROM storeGeneration ORDER BY firstSequence").map(
                Array.init)
        }
        for generation in generations where names[generation] == nil {
            let number = UInt8(added[machine.tag, default: []].count + 1)
            let name = [machine.tag, 0, 0, 0, 0, 0, 0, number]
            names[generation] = name
            added[machine.tag, default: []].append(name)
        }
    }

    /// The generations that a machine's store has added until now.
    func added(by machine: SessionMachine) -> [[UInt8]] { added[machine.tag] ?? [] }

    func name(_ generation: [UInt8]) -> [UInt8] {
        guard let name = names[generation] else {
            preconditionFailure("a generation that no store has added: \(generation.hexadecimal)")
        }
        return name
    }

    func renamed(_ token: ChangeToken) -> ChangeToken {
        ChangeToken(
            generation: name(token.generation), sequence: token.sequence, horizon: token.horizon)
    }

    func renamed(_ message: Message) -> Message {
        switch message {
        case .open(var open):
            for index in open.zones.indices {
                open.zones[index].received = open.zones[index].received.map(renamed)
            }
            return .open(open)
        case .batch(let zone, var batch):
            batch.token = renamed(batch.token)
            return .batch(zone: zone, batch)
        case .acknowledge(let zone, let token):
            return .acknowledge(zone: zone, renamed(token))
        case .digest(let zone, var summary):
            summary.current = renamed(summary.current)
            summary.received = summary.received.map(renamed)
            return .digest(zone: zone, summary)
        default: return message
        }
    }
}
