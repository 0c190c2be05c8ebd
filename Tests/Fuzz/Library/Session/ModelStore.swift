import PeerSyncModel

/// What a session asks of a store, for one zone and one peer, in memory: states, their numbers, and tokens.
///
/// It has no tables and no rules between records. What it does is what Protocol/ "The course of a session" says, in as few
/// words as possible.
struct ModelStore {
    private struct Entry {
        var state: RecordState
        /// The number of its last change.
        var sequence: Int64
        /// The peer sent exactly this state.
        var isEcho: Bool
        /// As in an inventory, and, of a live one, in a digest.
        var id: RecordID
    }

    /// Records in one batch: few, so that there are many batches.
    private static let batchLimit = 2

    /// Sorted by nothing: there are few.
    private var entries: [Entry] = []
    private var sequence: Int64 = 0
    private var generation: [UInt8]
    private let replica: ReplicaID
    private var clock = HybridLogicalClock()
    private(set) var received: ChangeToken?
    /// What the peer has made durable, as it says.
    private(set) var acknowledged: Int64 = 0

    init(number: UInt8) {
        generation = [UInt8](repeating: number, count: ChangeToken.generationLength)
        replica = ReplicaID(rawValue: UInt64(number))
    }

    // MARK: Reading

    var current: ChangeToken { sequence == 0 ? .start : token(sequence) }

    private func token(_ sequence: Int64) -> ChangeToken {
        ChangeToken(generation: generation, sequence: sequence)
    }

    var live: [RecordState] {
        entries.map(\.state).filter(\.isLive).sorted { $0.name < $1.name }
    }

    var summary: ZoneSummary {
        var digest = ZoneDigest()
        for entry in entries where entry.state.isLive { digest.insert(entry.id) }
        return ZoneSummary(current: current, received: received, digest: digest)
    }

    /// Where to begin with a peer that holds this token of ours.
    func begin(heldByPeer held: ChangeToken?) -> (start: ChangeToken, isVoid: Bool, count: UInt64) {
        let isGivenOut =
            held.map {
                $0.sequence == 0 || ($0.sequence <= sequence && $0.generation == generation)
            } ?? false
        let start = if let held, held.sequence > 0, isGivenOut { held } else { ChangeToken.start }
        return (start, held != nil && !isGivenOut, summary.digest.count)
    }

    func batch(after token: ChangeToken, includingEcho: Bool) -> ChangeBatch {
        let later =
            entries
            .filter { $0.sequence > token.sequence && (includingEcho || !$0.isEcho) }
            .sorted { $0.sequence < $1.sequence }
        guard later.count > Self.batchLimit else {
            return ChangeBatch(records: later.map(\.state.transferred), token: current, isLast: true)
        }
        let part = later.prefix(Self.batchLimit)
        return ChangeBatch(
            records: part.map(\.state.transferred), token: self.token(part.last!.sequence), isLast: false)
    }

    func states(named names: [RecordName]) -> [RecordState] {
        names.compactMap { name in entries.first { $0.state.name == name }?.state.transferred }
    }

    var inventory: NegentropyVector {
        let items = entries.filter { !$0.state.isDeleted }.compactMap { entry in
            let newest = entry.state.newestWrite ?? entry.state.revival
            return newest.map {
                NegentropyItem(timestamp: UInt64($0.time.milliseconds), id: NegentropyID(entry.id))
            }
        }
        return try! NegentropyVector(items)
    }

    func names(of ids: [NegentropyID]) -> [RecordName] {
        let wanted = Set(ids)
        return entries.filter { !$0.state.isDeleted && wanted.contains(NegentropyID($0.id)) }.map(
            \.state.name)
    }

    // MARK: Writing

    private static func id(of state: RecordState) -> RecordID {
        guard state.fields.isEmpty, let revival = state.revival else { return RecordID(state) }
        return RecordID(name: state.name, stamps: [(field: "", stamp: revival)], valueHash: [])
    }

    private mutating func keep(_ state: RecordState, isEcho: Bool) {
        sequence += 1
        let entry = Entry(state: state, sequence: sequence, isEcho: isEcho, id: Self.id(of: state))
        if let index = entries.firstIndex(where: { $0.state.name == state.name }) {
            entries[index] = entry
        } else {
            entries.append(entry)
        }
    }

    private mutating func newStamp() -> Stamp { Stamp(time: clock.tick(milliseconds: 0), replica: replica) }

    /// A local write of one field.
    mutating func write(_ name: RecordName, field: String, value: FieldValue) {
        var state = entries.first { $0.state.name == name }?.state ?? RecordState(name: name)
        state.write(RecordField(name: field, value: value, stamp: newStamp()))
        keep(state, isEcho: false)
    }

    /// A local deletion, if the record is there.
    mutating func delete(_ name: RecordName) {
        guard var state = entries.first(where: { $0.state.name == name })?.state, state.isLive else { return }
        state.raise(\.deletion, to: newStamp())
        keep(state, isEcho: false)
    }

    /// Brings a deleted record back, if this side has its fields.
    mutating func restore(_ name: RecordName) {
        guard var state = entries.first(where: { $0.state.name == name })?.state, state.isDeleted,
            !state.fields.isEmpty
        else { return }
        state.raise(\.revival, to: newStamp())
        keep(state, isEcho: false)
    }

    /// A local deletion for ever, if anything is known of the record.
    mutating func erase(_ name: RecordName) {
        guard var state = entries.first(where: { $0.state.name == name })?.state else { return }
        state.erase(at: newStamp())
        keep(state, isEcho: false)
    }

    mutating func apply(_ batch: ChangeBatch) {
        for state in batch.records {
            let known = entries.first { $0.state.name == state.name }
            var merged = known?.state ?? RecordState(name: state.name)
            let isNews = merged.merge(state)
            clock.observe(latest(state.life, state.deletion)?.time ?? HybridTime(rawValue: 0))
            let own = merged.transferred
            let theirs = state.transferred
            if isNews || known == nil {
                keep(merged, isEcho: own == theirs)
            } else if let known, own != theirs,
                batch.isLoose || known.sequence <= acknowledged || known.isEcho
            {
                // The peer is behind, and would not be told again.
                keep(merged, isEcho: false)
            }
        }
        if !batch.isLoose { received = batch.token }
    }

    mutating func acknowledge(_ token: ChangeToken) { acknowledged = max(acknowledged, token.sequence) }

    mutating func voidReceived() { received = nil }

    /// The peer asks for what comes after `token`, so it holds what that covers.
    mutating func noteBegun(at token: ChangeToken?) {
        if let token, token.sequence > 0 { acknowledge(token) }
    }

    // MARK: Giving up

    /// Gives up all records. No token that was given out before means anything from now on.
    mutating func giveUp() {
        entries = []
        (sequence, acknowledged, received) = (0, 0, nil)
        generation[0] &+= 1
    }

    /// Gives up what the peer has, which holds that token of ours.
    mutating func startOver(heldByPeer held: ChangeToken?) {
        let known = held?.generation == generation ? held?.sequence ?? 0 : 0
        entries.removeAll { $0.isEcho || $0.sequence <= known }
        received = nil
    }
}
