import PeerSyncModel

/// A store of a few records in memory, as Protocol/ 7.2 to 7.5 says what a store knows and does. It is a value: a search
/// copies it, and hashes it.
struct ModelStore: Hashable, Sendable {
    /// What the store knows of one record.
    struct Record: Hashable, Sendable {
        /// The state; 0 stands for none.
        var version = 0
        var number: Int64 = 0
        /// The machine that sent this state, if it came so.
        var source: Int?
    }

    /// What the store knows of another machine.
    struct Peer: Hashable, Sendable {
        var received: ChangeToken?
        var acknowledged: Int64 = 0
    }

    private struct Run: Hashable, Sendable {
        let first: Int64
        let generation: [UInt8]
    }

    let number: Int
    private(set) var records: [Record]
    private(set) var peers: [Peer]
    private(set) var lastNumber: Int64 = 0
    private var runs: [Run] = []
    /// How often the program was started. Each run draws its generation when it numbers its first change.
    private var starts: UInt8 = 0
    private var hasDrawn = false

    init(_ number: Int, records: Int, machines: Int) {
        self.number = number
        self.records = Array(repeating: Record(), count: records)
        peers = Array(repeating: Peer(), count: machines)
    }

    // MARK: The program

    /// The program ends, however it ends, and runs again.
    mutating func restart() {
        starts += 1
        hasDrawn = false
    }

    /// Comes back from a backup: the runs since then are forgotten, but no number of a run is drawn twice.
    mutating func restore(_ backup: ModelStore) {
        let starts = starts
        self = backup
        self.starts = starts
        restart()
    }

    private mutating func nextNumber() -> Int64 {
        lastNumber += 1
        if !hasDrawn {
            hasDrawn = true
            runs.append(Run(first: lastNumber, generation: [1, UInt8(number), starts, 0, 0, 0, 0, 0]))
        }
        return lastNumber
    }

    // MARK: Tokens

    private func token(at sequence: Int64) -> ChangeToken {
        guard sequence > 0, let run = runs.last(where: { $0.first <= sequence }) else { return .start }
        return ChangeToken(generation: run.generation, sequence: sequence)
    }

    var current: ChangeToken { token(at: lastNumber) }

    func hasGivenOut(_ token: ChangeToken) -> Bool {
        token.sequence == 0 || token.sequence <= lastNumber && self.token(at: token.sequence) == token
    }

    /// Where to begin with a machine that holds this token.
    func beginning(_ held: ChangeToken?) -> (start: ChangeToken, isVoid: Bool) {
        guard let held else { return (.start, false) }
        return hasGivenOut(held) ? (held, false) : (.start, true)
    }

    // MARK: Reading

    var digest: ZoneDigest {
        records.indices.reduce(into: ZoneDigest()) { digest, record in
            guard records[record].version > 0 else { return }
            digest.insert(ModelRecords.all.state(record, records[record].version))
        }
    }

    func summary(for peer: Int) -> ZoneSummary {
        ZoneSummary(current: current, received: peers[peer].received, digest: digest)
    }

    /// The next batch, of one record: so that streams have several.
    func nextBatch(after position: ChangeToken, for peer: Int, includingEcho: Bool) -> ChangeBatch {
        let left = records.indices.filter { record in
            records[record].number > position.sequence && (includingEcho || records[record].source != peer)
        }.sorted { records[$0].number < records[$1].number }
        let sent = left.prefix(1).map { ModelRecords.all.state($0, records[$0].version) }
        guard left.count > 1 else { return ChangeBatch(records: sent, token: current, isLast: true) }
        return ChangeBatch(records: sent, token: token(at: records[left[0]].number), isLast: false)
    }

    func inventory() throws -> NegentropyVector {
        try NegentropyVector(
            records.indices.filter { records[$0].version > 0 }
                .map { ModelRecords.all.item($0, records[$0].version) })
    }

    func names(of ids: [NegentropyID]) -> [RecordName] {
        records.indices.filter {
            records[$0].version > 0 && ids.contains(ModelRecords.all.item($0, records[$0].version).id)
        }.map(ModelRecords.name)
    }

    func named(_ names: [RecordName]) -> NamedRecords {
        let read = names.prefix(1).map { name in
            let record = ModelRecords.all.number(of: name)
            return ModelRecords.all.state(record, records[record].version)
        }
        return NamedRecords(records: read, namesRead: read.count)
    }

    // MARK: Writing

    /// A local write.
    mutating func write(_ record: Int, version: Int) {
        records[record] = Record(version: version, number: nextNumber(), source: nil)
    }

    /// Merges a batch in one transaction, and keeps its token (7.5).
    mutating func apply(_ batch: ChangeBatch, from peer: Int) {
        for state in batch.records {
            let record = ModelRecords.all.number(of: state.name)
            let version = ModelRecords.all.version(of: state)
            let own = records[record]
            if version > own.version {
                records[record] = Record(version: version, number: nextNumber(), source: peer)
            } else if version < own.version,
                own.number <= peers[peer].acknowledged || own.source == peer
            {
                // The sender is behind, and would not be told again.
                records[record] = Record(version: own.version, number: nextNumber(), source: nil)
            }
        }
        if !batch.isLoose { keep(batch.token, of: peer) }
    }

    private mutating func keep(_ token: ChangeToken, of peer: Int) {
        if let held = peers[peer].received, held.generation == token.generation,
            held.sequence > token.sequence
        {
            return
        }
        peers[peer].received = token
    }

    mutating func acknowledge(_ token: ChangeToken, by peer: Int) {
        peers[peer].acknowledged = max(peers[peer].acknowledged, token.sequence)
    }

    mutating func noteBegun(_ token: ChangeToken?, by peer: Int) {
        if let token, token.sequence > 0 { peers[peer].acknowledged = token.sequence }
    }

    mutating func voidReceived(from peer: Int) { peers[peer].received = nil }
}
