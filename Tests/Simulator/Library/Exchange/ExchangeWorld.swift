import PeerSyncModel

/// Machines with a few records, their connections, and everything that can happen next: the state that a search goes through.
struct ExchangeWorld {
    /// One thing that happens.
    enum Step: CustomStringConvertible {
        case work(ModelLink.Work, link: Int, side: Int)
        /// A user writes a record.
        case write(machine: Int, record: Int)
        /// The line is cut, and both connect again.
        case cut(link: Int)
        /// The program ends without another word, and starts again.
        case crash(machine: Int)
        /// The store comes back from the backup that was made at the beginning.
        case restore(machine: Int)

        var description: String {
            switch self {
            case .work(let work, let link, let side):
                "link \(link), \(side == 0 ? "caller" : "listener"): \(work.rawValue)"
            case .write(let machine, let record): "machine \(machine) writes record \(record)"
            case .cut(let link): "link \(link) is cut, and made again"
            case .crash(let machine): "machine \(machine) crashes, and starts again"
            case .restore(let machine): "machine \(machine) comes back from its backup"
            }
        }
    }

    private(set) var stores: [ModelStore]
    private(set) var links: [ModelLink]
    private var backups: [ModelStore] = []
    /// How many writes, cuts, crashes and restores may still happen.
    private var eventsLeft: Int
    /// What a machine lacks since a store came back from a backup, although a token says otherwise. Digests find it out.
    private var lost: Set<Gap> = []
    /// The machines that came back from a backup. Others do not send such a machine what it sent them itself in a loose batch, of which
    /// no token tells. Digests find that out, too.
    private var returned: Set<Int> = []

    /// - Parameters:
    ///   - records: for each machine, which records it has written before it meets another.
    ///   - haveMet: whether all have synced before, and then written the same once more.
    ///   - events: how many writes, cuts, crashes and restores may happen.
    init(records: [[Int]], haveMet: Bool, events: Int) throws {
        let count = (records.joined().max() ?? 0) + 1
        stores = records.indices.map { ModelStore($0, records: count, machines: records.count) }
        let known = KnownChanges()
        links = records.indices.dropFirst().map { ModelLink($0 - 1, $0, known: known) }
        eventsLeft = 0
        for machine in records.indices { for record in records[machine] { write(machine, record) } }
        if haveMet {
            try connect(links.indices)
            while let step = steps.first { try take(step) }
            for machine in records.indices { for record in records[machine] { write(machine, record) } }
        }
        backups = stores
        eventsLeft = events
        try connect(links.indices)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(stores)
        for link in links { link.hash(into: &hasher) }
        hasher.combine(eventsLeft)
        hasher.combine(lost)
        hasher.combine(returned)
    }

    // MARK: What can happen

    /// What the programs can do, without any event from outside.
    var steps: [Step] {
        links.indices.flatMap { link in
            (0...1).flatMap { side in links[link].work(of: side).map { Step.work($0, link: link, side: side) }
            }
        }
    }

    /// What can happen from outside.
    var events: [Step] {
        guard eventsLeft > 0 else { return [] }
        let writes = stores.indices.flatMap { machine in
            stores[machine].records.indices.map { Step.write(machine: machine, record: $0) }
        }
        return writes + links.indices.map { .cut(link: $0) } + stores.indices.map { .crash(machine: $0) }
            + stores.indices.map { .restore(machine: $0) }
    }

    mutating func take(_ step: Step) throws {
        switch step {
        case .work(let work, let link, let side):
            try links[link].take(side, work, &stores)
            if work == .commit { try storeChanged(links[link].machines[side], except: link) }
        case .write, .cut, .crash, .restore: try takeEvent(step)
        }
    }

    private mutating func takeEvent(_ step: Step) throws {
        eventsLeft -= 1
        switch step {
        case .write(let machine, let record):
            write(machine, record)
            try storeChanged(machine, except: nil)
        case .cut(let link): try connect([link])
        case .crash(let machine):
            stores[machine].restart()
            try connect(links(of: machine))
        case .restore(let machine):
            stores[machine].restore(backups[machine])
            lost.formUnion(gaps)
            returned.insert(machine)
            try connect(links(of: machine))
        default: break
        }
    }

    private func links(of machine: Int) -> [Int] {
        links.indices.filter { links[$0].machines.contains(machine) }
    }

    private mutating func connect(_ numbers: some Sequence<Int>) throws {
        for number in numbers { try links[number].connect(&stores) }
    }

    /// A write is later than all that its machine knows, and no two have one stamp.
    private mutating func write(_ machine: Int, _ record: Int) {
        let known = stores[machine].records.map(\.version).max() ?? 0
        stores[machine].write(record, version: (known / stores.count + 1) * stores.count + machine)
    }

    private mutating func storeChanged(_ machine: Int, except: Int?) throws {
        for link in links(of: machine) where link != except {
            try links[link].take(links[link].machines[0] == machine ? 0 : 1, .hearOfChange, &stores)
        }
    }

    // MARK: What must hold

    /// Checks what must hold at every moment, and what must hold when the programs have nothing left to do.
    func check(isAtRest: Bool) throws {
        if let gap = gaps.subtracting(lost).first {
            throw SimulationFailure(
                "a token of machine \(gap.writer) covers a change that machine \(gap.reader) lacks: "
                    + "machine \(gap.reader) holds it, or machine \(gap.writer) takes it for acknowledged")
        }
        guard isAtRest else { return }
        for link in links where !(0...1).allSatisfy({ link.side($0).session.isInSync }) {
            throw SimulationFailure("nothing is left to do, and not all know that they are in sync")
        }
        guard Set(stores.map { $0.records.map(\.version) }).count == 1 else {
            throw SimulationFailure("nothing is left to do, and not all hold the same")
        }
    }

    /// A state that a machine lacks, although a token covers it.
    private struct Gap: Hashable {
        let writer: Int
        let reader: Int
        let record: Int
        let version: Int
    }

    /// What a machine holds a token for, it should have; and so what it has acknowledged.
    private var gaps: Set<Gap> {
        var gaps: Set<Gap> = []
        for link in links {
            for (one, other) in [(link.machines[0], link.machines[1]), (link.machines[1], link.machines[0])] {
                let (writer, reader) = (stores[one], stores[other])
                let received = reader.peers[one].received.flatMap {
                    writer.hasGivenOut($0) ? $0.sequence : nil
                }
                let covered = max(received ?? 0, writer.peers[other].acknowledged)
                for (record, own) in writer.records.enumerated()
                where own.version > reader.records[record].version && own.number <= covered
                    && !(own.source == other && returned.contains(other))
                {
                    gaps.insert(Gap(writer: one, reader: other, record: record, version: own.version))
                }
            }
        }
        return gaps
    }
}
