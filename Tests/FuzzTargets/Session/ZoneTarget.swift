import SyncModel
import SyncProtocol

/// The exchange of a zone.
enum ZoneTarget {
    /// Steps that a script can lead to: each of its bytes brings a bounded number, and so does each record.
    private static let mostSteps = 20_000

    private static func write(_ input: inout FuzzInput, _ store: inout ModelStore) {
        let name = FuzzRecords.names[input.number(below: 8)]
        switch input.number(below: 6) {
        case 0: store.delete(name)
        case 4: store.restore(name)
        case 5: store.erase(name)
        case let field:
            store.write(name, field: ["a", "b", "c"][field - 1], value: .integer(Int64(input.byte())))
        }
    }

    // MARK: A hostile peer

    /// One side, and a peer that sends what it likes.
    static func hostile(_ input: inout FuzzInput) throws {
        var store = ModelStore(number: 1)
        for _ in 0..<input.number(below: 6) { write(&input, &store) }
        let isCaller = input.flag()
        var zone = ModelZone(store, isCaller: isCaller)
        zone.comparesEverything = input.flag()
        var peer = HostilePeer()
        do {
            try zone.begin(heldByPeer: input.flag() ? nil : peer.token(&input, zone))
            while !input.isAtEnd {
                peer.heard += zone.takeOutbox()
                if peer.heard.count > 64 { peer.heard.removeFirst(32) }
                switch input.number(below: 8) {
                case 0: write(&input, &zone.store)
                case 1: zone.storeChanged()
                case 2: try step(&zone, .receiving)
                case 3: try step(&zone, .sending)
                case 4: try settle(&zone)
                default:
                    if let message = peer.message(&input, zone) { zone.inbox.append(message) }
                }
            }
            try settle(&zone)
        } catch let error as ProtocolError {
            try expect(
                [.malformed, .unexpectedMessage, .digestMismatch].contains(error.code),
                "\(error) because of a message")
        }
    }

    private static func step(_ zone: inout ModelZone, _ strand: ModelZone.Strand) throws {
        let before = zone.messagesSent
        try zone.step(strand)
        try expect(
            zone.messagesSent - before <= 3, "\(zone.messagesSent - before) messages because of one step")
    }

    /// Goes on until nothing is left to do, which must be soon.
    private static func settle(_ zone: inout ModelZone) throws {
        var steps = 0
        for strand in [ModelZone.Strand.receiving, .sending, .receiving, .sending] {
            while zone.hasWork(strand) {
                try step(&zone, strand)
                steps += 1
                try expect(steps < mostSteps, "a side alone does not come to rest")
            }
        }
    }

    // MARK: Two honest sides

    /// Two sides whose programs, stores and lines take turns as the input says; in the end they hold the same.
    static func honest(_ input: inout FuzzInput) throws {
        var stores = [ModelStore(number: 1), ModelStore(number: 2)]
        for index in 0...1 {
            for _ in 0..<input.number(below: 6) { write(&input, &stores[index]) }
        }
        var zones = try connect(stores)
        while !input.isAtEnd {
            let operation = input.byte()
            let index = Int(operation & 1)
            switch operation >> 1 & 15 {
            case 0, 1:
                write(&input, &zones[index].store)
                zones[index].storeChanged()
            case 2: zones[index].storeChanged()
            case 3...6: try step(&zones[index], .receiving)
            case 7...10: try step(&zones[index], .sending)
            case 11, 12: carry(&zones)
            case 13: zones[index].comparesEverything = true
            // The line is cut, and the two meet again.
            case 14: zones = try connect(zones.map(\.store))
            default:
                carry(&zones)
                try settle(&zones[index])
            }
        }
        try finish(&zones)
    }

    private static func connect(_ stores: [ModelStore]) throws -> [ModelZone] {
        var zones = [ModelZone(stores[0], isCaller: true), ModelZone(stores[1], isCaller: false)]
        for index in 0...1 { try zones[index].begin(heldByPeer: stores[1 - index].received) }
        return zones
    }

    private static func carry(_ zones: inout [ModelZone]) {
        for index in 0...1 { zones[1 - index].inbox += zones[index].takeOutbox() }
    }

    private static func finish(_ zones: inout [ModelZone]) throws {
        var rounds = 0
        repeat {
            carry(&zones)
            try settle(&zones[0])
            try settle(&zones[1])
            rounds += 1
            try expect(rounds < mostSteps, "two honest sides do not come to rest")
        } while zones.contains { !$0.outbox.isEmpty }
        // An old deletion of a record that lives again says nothing any more, and no digest counts it.
        try expect(
            zones[0].store.live.map(\.fields) == zones[1].store.live.map(\.fields)
                && zones[0].store.live.map(\.name) == zones[1].store.live.map(\.name),
            "two honest sides hold different records")
        try expect(
            zones[0].isConfirmed && zones[1].isConfirmed,
            "two honest sides do not know that they hold the same: \(zones[0].isAtRest) \(zones[1].isAtRest)")
    }
}

/// A peer that says anything at any time, but often what fits.
struct HostilePeer {
    /// What it was told last.
    var heard: [Message] = []

    func token(_ input: inout FuzzInput, _ zone: ModelZone) -> ChangeToken {
        switch input.number(below: 6) {
        case 0: .start
        case 1: zone.store.current
        case 2: zone.store.received ?? .start
        case 3: zone.unacknowledged.last ?? .start
        case 4: zone.unacknowledged.first ?? .start
        default:
            ChangeToken(
                generation: [UInt8](repeating: input.byte(), count: 8), sequence: Int64(input.byte()),
                horizon: Int64(input.byte()))
        }
    }

    func message(_ input: inout FuzzInput, _ zone: ModelZone) -> Message? {
        switch input.number(below: 10) {
        case 0:
            return FuzzMessages.decoded(input.take(Int(input.byte())))
        case 1:
            let flags = input.byte()
            return .begin(
                Message.Begin(
                    zone: 0, isHeldTokenVoid: flags & 1 == 1, isWholeCopy: flags & 2 == 2,
                    recordCount: UInt64(flags >> 2)))
        case 2, 3: return .acknowledge(zone: 0, token(&input, zone))
        case 4, 5:
            let flags = input.byte()
            var records: [RecordState] = []
            for _ in 0..<flags >> 5 {
                let name = FuzzRecords.names[input.number(below: 8)]
                let state = FuzzRecords.state(&input, name: name)
                if !state.isEmpty { records.append(state) }
            }
            return .batch(
                zone: 0,
                ChangeBatch(
                    records: records, token: token(&input, zone), isLast: flags & 1 == 1,
                    isLoose: flags & 2 == 2))
        case 6:
            var summary = zone.store.summary
            (summary.current, summary.received) = (summary.received ?? .start, summary.current)
            let flags = input.byte()
            if flags & 1 == 1 { summary.digest = ZoneDigest() }
            if flags & 2 == 2 { summary.refused = Int(input.byte()) }
            if flags & 4 == 4 { summary.current = token(&input, zone) }
            return .digest(zone: 0, summary)
        case 7: return .resync(zone: 0, round: Int(input.byte()) << (input.number(below: 4) * 7))
        default: return reconcile(&input, zone)
        }
    }

    /// A step of a reconciliation: an honest answer of a side with other items, or anything.
    private func reconcile(_ input: inout FuzzInput, _ zone: ModelZone) -> Message {
        let flags = input.byte()
        var payload = input.take(Int(input.byte()))
        let items = flags & 4 == 4 ? zone.store.inventory : Self.items
        if flags & 2 == 2 {
            let question = heard.lazy.reversed().compactMap { message -> [UInt8]? in
                if case .reconcile(let step) = message { step.payload } else { nil }
            }.first
            let responder = NegentropyResponder(storage: items, frameSizeLimit: 60_000)
            payload =
                question.flatMap { try? responder.reconcile($0) }
                ?? NegentropyInitiator(storage: items, frameSizeLimit: 60_000).initiate()
        }
        var wanted: [NegentropyID] = []
        if flags & 8 == 8 {
            wanted = zone.store.inventory.items(in: 0..<zone.store.inventory.count).map(\.id)
        }
        if flags & 16 == 16 { wanted += Self.items.items(in: 0..<1).map(\.id) }
        return .reconcile(Message.Reconcile(zone: 0, isEnd: flags & 1 == 1, wanted: wanted, payload: payload))
    }

    private static let items: NegentropyVector = {
        var store = ModelStore(number: 9)
        for name in FuzzRecords.names { store.write(name, field: "a", value: .null) }
        return store.inventory
    }()
}
