import GRDB
import RecordStore
import SyncModel
import SyncProtocol

/// One zone of a session on one machine: does for ``ZoneExchange`` what it asks for, one thing after the other.
///
/// In a running program several tasks do this, and what they send may come in another order from one run to the next.
final class SessionZone {
    private let number: Int
    private let machine: SessionMachine
    private let peerZone: PeerZone
    private let send: (Message) -> Void
    private var exchange: ZoneExchange
    private var place = ReadingPlace(.start)
    /// Whether everything is to be compared once the two are found equal.
    private var comparesEverything: Bool

    init(
        _ number: Int, _ zone: Zone, of machine: SessionMachine, with peer: Peer, isCaller: Bool,
        comparesEverything: Bool, send: @escaping (Message) -> Void
    ) {
        self.number = number
        self.machine = machine
        self.comparesEverything = comparesEverything
        self.send = send
        peerZone = PeerZone(store: machine.store, zone: .one(zone), peer: peer)
        exchange = ZoneExchange(zone: number, isCaller: isCaller)
    }

    /// Both sides know that they hold the same records, but for those that one of them has refused.
    var isConfirmed: Bool { exchange.isConfirmed }

    func begin(heldByPeer held: ChangeToken?, mayWrite: Bool) throws {
        if mayWrite, try summary().refused > 0 { try machine.write { try peerZone.retryRefused($0) } }
        let begin = try machine.read { try peerZone.begin($0, heldByPeer: held) }
        send(
            exchange.begin(
                at: begin.start, isHeldTokenVoid: begin.isHeldTokenVoid, recordCount: begin.recordCount))
    }

    /// The store has changed.
    func storeChanged() { exchange.storeChanged() }

    func receive(_ message: Message) throws {
        switch message {
        case .begin(let begin):
            try machine.write { try peerZone.noteBegun($0, at: exchange.start) }
            try perform(exchange.received(begin))
        case .batch(_, let batch): try perform(exchange.received(batch))
        case .acknowledge(_, let token): try perform(exchange.receivedAcknowledgement(token))
        case .digest(_, let summary): try perform(exchange.received(summary))
        case .reconcile(let step): try perform(exchange.received(step))
        case .resync(_, let round): try perform(exchange.receivedResync(round: round))
        case .refuse(let refuse):
            try exchange.checkHasBegun()
            guard let reason = Refusal.Reason(rawValue: Int64(refuse.reason)) else { return }
            let refusal = Refusal(names: refuse.names, reason: reason)
            try machine.write { try peerZone.noteRefused($0, refusal) }
        default: preconditionFailure("no message of a zone: \(message)")
        }
    }

    /// Sends what there is to send.
    func pump() throws {
        while let request = exchange.nextRequest() {
            switch request {
            case .read(let token, let includingEcho):
                let (batch, next) = try machine.read {
                    try peerZone.nextBatch($0, after: place.at(token), includingEcho: includingEcho)
                }
                place = next
                if let message = exchange.batchRead(batch) { send(message) }
            case .readNamed(let names):
                let records = try machine.read { try peerZone.states($0, named: names) }
                if let message = exchange.namedRead(records) { send(message) }
            case .summarize: try perform(exchange.summarized(summary()))
            }
        }
    }

    private func summary() throws -> ZoneSummary { try machine.read { try peerZone.summary($0) } }

    private func perform(_ actions: [ZoneExchange.Action]) throws {
        for action in actions {
            switch action {
            case .send(let message): send(message)
            case .apply(let batch): try apply(batch)
            case .acknowledged(let token): try machine.write { try peerZone.acknowledge($0, token) }
            case .voidReceived: try machine.write { try peerZone.voidReceived($0) }
            case .checkRecords:
                comparesEverything = false
                let check = try machine.read { try machine.store.upkeep.check($0) }
                precondition(check.isSound, "the store of \(machine.name) is to be sound: \(check)")
                try perform(exchange.recordsChecked())
            case .takeInventory:
                let (items, token) = try machine.read { try peerZone.inventory($0) }
                try perform(exchange.inventoryTaken(items, at: token))
            case .resolve(let ids):
                let names = try machine.read { try peerZone.names($0, of: ids) }
                try perform(exchange.resolved(names.sorted()))
            case .compare(let theirs): try compare(theirs)
            case .wake: break
            }
        }
    }

    private func apply(_ batch: ChangeBatch) throws {
        for refusal in try machine.write({ try peerZone.apply($0, batch) }) {
            send(
                .refuse(
                    Message.Refuse(
                        zone: number, reason: Int(refusal.reason.rawValue), names: refusal.names)))
        }
        try perform(exchange.applied(batch))
    }

    private func compare(_ theirs: ZoneSummary) throws {
        switch exchange.compare(try summary(), with: theirs) {
        case .notYet: break
        case .different: try perform(exchange.resync())
        case .equal where comparesEverything: try perform(exchange.compareEverything())
        case .equal: break
        }
    }
}
