import AssetModel
import NIOCore
import PeerSyncModel
import PeerSyncProtocol

/// A peer that says anything at any time, but often what fits.
struct HostilePeer {
    /// What it was told last.
    private var heard: [Message] = []
    private var heardHello: Message.Hello?
    private var heardOpen: Message.Open?
    private let isCaller: Bool
    private var hasGreeted = false
    private var hasOpened = false
    private var begun = 0

    init(isCaller: Bool) {
        self.isCaller = isCaller
    }

    mutating func hear(_ messages: [Message]) {
        for message in messages {
            switch message {
            case .hello(let hello): heardHello = hello
            case .open(let open): heardOpen = open
            default: break
            }
        }
        heard = Array((heard + messages).suffix(32))
    }

    // MARK: What fits

    /// What an honest peer might say next.
    mutating func fitting(_ input: inout FuzzInput, _ side: ModelSession) -> Message {
        if !hasGreeted, isCaller || heardHello != nil {
            hasGreeted = true
            return hello(side.machine.offers)
        }
        if hasGreeted, !hasOpened, isCaller || heardOpen != nil {
            hasOpened = true
            let entries = side.machine.offers.map { offer in
                let held = input.flag() ? token(&input, side, 0) : nil
                return Message.Open.Entry(id: offer.id, received: held)
            }
            return .open(Message.Open(union: isCaller ? .none : heardOpen?.union ?? .none, zones: entries))
        }
        if begun < side.zones.count {
            begun += 1
            return begin(&input, begun - 1)
        }
        switch input.number(below: 4) {
        case 0: return .ping([UInt8](repeating: 0, count: MessageCodec.pingLength))
        case 1: return digest(&input, side, 0)
        case 2: return reconcile(&input, side, 0)
        default:
            let oldest = side.rules.unacknowledged[0]?.first
            return oldest.map { .acknowledge(zone: 0, $0) } ?? batch(&input, side, 0)
        }
    }

    private func hello(_ zones: [ZoneOffer]) -> Message {
        .hello(
            Message.Hello(
                minorVersion: 0, replica: ReplicaID(rawValue: 2), instance: 2, displayName: "peer", clock: 0,
                zones: zones))
    }

    // MARK: Anything

    func message(_ input: inout FuzzInput, _ side: ModelSession) -> Message? {
        let kind = input.byte()
        // Mostly of the first zone.
        let zone = kind & 0xC0 == 0 ? input.number(below: 3) : 0
        switch kind & 0x3F {
        case 0...2: return FuzzMessages.decoded(input.take(Int(input.byte())))
        case 3, 4: return begin(&input, zone)
        case 5...10: return .acknowledge(zone: zone, token(&input, side, zone))
        case 11...20: return batch(&input, side, zone)
        case 21...25: return digest(&input, side, zone)
        case 26, 27: return .resync(zone: zone, round: Int(input.byte()) << (input.number(below: 4) * 7))
        case 28...40: return reconcile(&input, side, zone)
        case 41...44: return hello(MeetingTarget.offers(&input))
        case 45...48:
            let unions: [ZoneUnion] = [.none, .merge, .beside, .replaceCaller, .replaceListener]
            let ids = input.flag() ? MeetingTarget.offers(&input).map(\.id) : side.machine.zones.map(\.id)
            let entries = ids.map { Message.Open.Entry(id: $0, received: token(&input, side, 0)) }
            return .open(Message.Open(union: input.pick(unions), zones: entries))
        case 49: return .goodbye
        case 50: return .error(ProtocolError(.init(rawValue: UInt64(input.byte())), "an error"))
        case 51: return .pairingShare(input.take(32))
        case 52: return .pairingTag(Message.PairingTag(tag: input.take(64), displayName: "peer"))
        case 53, 54:
            let names = FuzzRecords.names.prefix(input.number(below: 4))
            return .refuse(Message.Refuse(zone: zone, reason: Int(input.byte()), names: Array(names)))
        case 55, 56: return AssetTarget.message(&input, side.machine.files)
        case 57:
            return .household(
                input.flag() ? side.machine.household?.digest ?? [] : Self.padded(input.take(32)))
        case 58: return householdSet(&input, side)
        default: return .ping([UInt8](repeating: 1, count: MessageCodec.pingLength))
        }
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: Household.digestLength - bytes.count)
    }

    /// A set of introductions, some of which the other side knows, and some of which are removed.
    private func householdSet(_ input: inout FuzzInput, _ side: ModelSession) -> Message {
        var set = input.flag() ? side.machine.household ?? Household() : Household()
        for _ in 0..<input.number(below: 4) {
            let key = [UInt8](repeating: input.byte(), count: 32)
            let introduction = Introduction(
                nonce: [UInt8](repeating: input.byte(), count: 16), key: key, name: "attic",
                rights: input.flag() ? .all : .read, introducer: [UInt8](repeating: input.byte(), count: 32),
                time: Int64(input.byte()))
            if let introduction { set.introduce(introduction) }
            if input.flag(), let removal = HouseholdEntry.Removal(by: key, time: Int64(input.byte())) {
                set.remove(key, removal)
            }
        }
        return .householdSet(Message.HouseholdSet(set: set, port: Int(input.byte()), addresses: []))
    }

    private func store(_ side: ModelSession, _ zone: Int) -> ModelStore {
        let id = side.zones.indices.contains(zone) ? side.zones[zone] : side.machine.zones[0].id
        return side.machine.store(id) ?? side.machine.zones[0].store
    }

    private func token(_ input: inout FuzzInput, _ side: ModelSession, _ zone: Int) -> ChangeToken {
        let sent = side.rules.unacknowledged[zone] ?? []
        switch input.number(below: 6) {
        case 0: return .start
        case 1: return store(side, zone).current
        case 2: return store(side, zone).received ?? .start
        case 3: return sent.last ?? .start
        case 4: return sent.first ?? .start
        default:
            return ChangeToken(
                generation: [UInt8](repeating: input.byte(), count: 8), sequence: Int64(input.byte()),
                horizon: Int64(input.byte()))
        }
    }

    private func begin(_ input: inout FuzzInput, _ zone: Int) -> Message {
        let flags = input.byte()
        return .begin(
            Message.Begin(
                zone: zone, isHeldTokenVoid: flags & 1 == 1, isWholeCopy: flags & 2 == 2,
                recordCount: UInt64(flags >> 2)))
    }

    private func batch(_ input: inout FuzzInput, _ side: ModelSession, _ zone: Int) -> Message {
        let flags = input.byte()
        var records: [RecordState] = []
        for _ in 0..<flags >> 5 {
            let name = FuzzRecords.names[input.number(below: 8)]
            let state = FuzzRecords.state(&input, name: name)
            if !state.isEmpty { records.append(state) }
        }
        let batch = ChangeBatch(
            records: records, token: token(&input, side, zone), isLast: flags & 1 == 1,
            isLoose: flags & 2 == 2)
        return .batch(zone: zone, batch)
    }

    private func digest(_ input: inout FuzzInput, _ side: ModelSession, _ zone: Int) -> Message {
        var summary = store(side, zone).summary
        (summary.current, summary.received) = (summary.received ?? .start, summary.current)
        let flags = input.byte()
        if flags & 1 == 1 { summary.digest = ZoneDigest() }
        if flags & 2 == 2 { summary.refused = Int(input.byte()) }
        if flags & 4 == 4 { summary.current = token(&input, side, zone) }
        return .digest(zone: zone, summary)
    }

    /// A step of a reconciliation: an honest answer of a side with other items, or anything.
    private func reconcile(_ input: inout FuzzInput, _ side: ModelSession, _ zone: Int) -> Message {
        let flags = input.byte()
        var payload = input.take(Int(input.byte()))
        let inventory = store(side, zone).inventory
        let items = flags & 4 == 4 ? inventory : Self.items
        if flags & 2 == 2 {
            let question = heard.lazy.reversed().compactMap { message -> [UInt8]? in
                if case .reconcile(let step) = message { step.payload } else { nil }
            }.first
            let responder = NegentropyResponder(storage: items, frameSizeLimit: 60_000)
            payload =
                question.flatMap { try? responder.reconcile($0) }
                ?? (try? NegentropyInitiator(storage: items, frameSizeLimit: 60_000).initiate()) ?? []
        }
        var wanted: [NegentropyID] = []
        if flags & 8 == 8 { wanted = inventory.items(in: 0..<inventory.count).map(\.id) }
        if flags & 16 == 16 { wanted += Self.items.items(in: 0..<1).map(\.id) }
        let step = Message.Reconcile(zone: zone, isEnd: flags & 1 == 1, wanted: wanted, payload: payload)
        return .reconcile(step)
    }

    private static let items: NegentropyVector = {
        var store = ModelStore(number: 9)
        for name in FuzzRecords.names { store.write(name, field: "a", value: .null) }
        return store.inventory
    }()
}
