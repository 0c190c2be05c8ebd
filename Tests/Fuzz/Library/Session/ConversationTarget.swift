import AssetModel
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol
import TestSupport

/// Whole sessions, from the end of the handshake to the goodbyes.
enum ConversationTarget {
    /// Steps that a script can lead to: each of its bytes brings a bounded number, and so does each record.
    private static let mostSteps = 20_000

    private static let unions: [ZoneUnion?] = [
        nil, nil, nil, nil, .merge, .beside, .replaceCaller, .replaceListener,
    ]
    private static let answers: [ZoneAnswer?] = [
        nil, nil, .nobody, .cancel, .union(.merge), .union(.beside), .union(.replaceCaller),
    ]
    private static let otherCode = try! PairingCode("042-918")

    private static func write(_ input: inout FuzzInput, _ machine: inout ModelMachine) {
        let zone = machine.zones[input.number(below: machine.zones.count)].id
        let name = FuzzRecords.names[input.number(below: 8)]
        let (operation, value) = (input.number(below: 6), FieldValue.integer(Int64(input.byte())))
        machine.change(zone) { store in
            switch operation {
            case 0: store.delete(name)
            case 4: store.restore(name)
            case 5: store.erase(name)
            default: store.write(name, field: ["a", "b", "c"][operation - 1], value: value)
            }
        }
    }

    private static func newMachine(_ input: inout FuzzInput, number: UInt8, hasClub: Bool) -> ModelMachine {
        var machine = ModelMachine(number: number, hasClub: hasClub)
        for _ in 0..<input.number(below: 6) { write(&input, &machine) }
        let flags = input.byte()
        for (index, hash) in FuzzRecords.hashes.prefix(4).enumerated() {
            if flags >> index & 1 == 1 { machine.files.disk.files[hash] = AssetTarget.size(hash) }
            if flags >> (index + 4) & 1 == 1 { machine.wantedFiles[hash] = AssetTarget.size(hash) }
        }
        return machine
    }

    private static func call(_ input: inout FuzzInput) -> SessionCall {
        let flags = input.byte()
        let pairing: [SessionCall.Pairing] = [
            .ifUnknown(ModelMachine.code), .no, .again(ModelMachine.code), .again(otherCode),
        ]
        return SessionCall(
            pairing: pairing[Int(flags & 3)], isOnce: flags & 4 == 4, comparesEverything: flags & 8 == 8,
            startsOver: flags & 0x30 == 0x30, union: input.pick(unions))
    }

    /// Something that happens at a machine, whatever the other side does.
    private static func happen(_ input: inout FuzzInput, _ side: inout ModelSession) throws {
        let hash = input.pick(FuzzRecords.hashes)
        let size = AssetTarget.size(hash)
        switch input.number(below: 12) {
        case 0: side.settingsChanged()
        case 1:
            side.machine.erasures += 1
            side.settingsChanged()
        case 2: side.stop()
        case 3: side.isStoreFailing = true
        case 4: side.machine.answer = input.pick(answers)
        case 5: side.machine.showsCode.toggle()
        case 6: side.machine.files.luck = input.pick([.good, .busy, .noRoom, .full, .broken])
        case 7: side.machine.files.pause()
        case 8: side.machine.files.receiver.resume()
        case 9, 10: side.want(hash, size: size)
        default: try side.machine.files.put(hash, size: size)
        }
    }

    // MARK: A hostile peer

    /// One side, and a peer that sends what it likes.
    static func hostile(_ input: inout FuzzInput) throws {
        let flags = input.byte()
        var machine = newMachine(&input, number: 1, hasClub: flags & 1 == 1)
        machine.isPaired = flags & 6 != 0
        machine.showsCode = flags & 8 == 8
        machine.answer = input.pick(answers)
        let isCaller = flags & 16 == 16
        var side = ModelSession(machine, isCaller ? .call(call(&input)) : .answer, isPeerHonest: false)
        var peer = HostilePeer(isCaller: !isCaller)
        // Somebody may have copied the store.
        side.begin(with: flags & 0xE0 == 0xE0 ? 1 : 2)
        // Otherwise few would get as far as the records.
        for _ in 0..<input.number(below: 16) {
            try settle(&side)
            peer.hear(side.takeOutbox())
            side.inbox.append(peer.fitting(&input, side))
        }
        while !input.isAtEnd {
            peer.hear(side.takeOutbox())
            switch input.number(below: 16) {
            case 0:
                write(&input, &side.machine)
                side.storeChanged()
            case 1: side.storeChanged()
            case 2: try happen(&input, &side)
            case 3:
                if input.number(below: 4) == 0 { try side.cut() } else { side.left() }
            case 4, 5: try side.step(input.pick(ModelSession.Strand.allCases))
            case 6, 7: try settle(&side)
            case 8...11:
                side.inbox.append(peer.fitting(&input, side))
                try side.step(.reading)
            default: if let message = peer.message(&input, side) { side.inbox.append(message) }
            }
        }
        try settle(&side)
        try side.cut()
        try settle(&side)
        try expect(side.session.isOver, "a session goes on without a connection")
    }

    /// Goes on until nothing is left to do, which must be soon.
    private static func settle(_ side: inout ModelSession) throws {
        var steps = 0
        var didWork = true
        while didWork {
            didWork = false
            for strand in ModelSession.Strand.allCases {
                while try side.step(strand) {
                    didWork = true
                    steps += 1
                    try expect(steps < mostSteps, "a side alone does not come to rest")
                }
            }
        }
        guard let message = side.inbox.first, !side.session.isOver else { return }
        try expect(
            side.session.readiness(for: message) == .ready, "\(message) waits for what nobody does any more")
    }

    // MARK: Two honest sides

    /// Two machines that meet again and again, whose programs, stores and lines take turns as the input says; in the end they
    /// hold the same.
    static func honest(_ input: inout FuzzInput) throws {
        let flags = input.byte()
        var machines = [
            newMachine(&input, number: 1, hasClub: flags & 1 == 1),
            newMachine(&input, number: 2, hasClub: flags & 2 == 2),
        ]
        for index in 0...1 { machines[index].isPaired = flags & 4 << UInt8(index) == 0 }
        var sides = connect(machines, caller: 0, call(&input))
        while !input.isAtEnd {
            let operation = input.byte()
            let index = Int(operation & 1)
            switch operation >> 1 & 15 {
            case 0, 1:
                write(&input, &sides[index].machine)
                sides[index].storeChanged()
            case 2: sides[index].storeChanged()
            case 3...6: try sides[index].step(input.pick(ModelSession.Strand.allCases))
            case 7: try happen(&input, &sides[index])
            case 8...10: carry(&sides)
            // The line is cut, and the two meet again.
            case 11:
                let machines = sides.map(\.machine)
                sides = connect(machines, caller: index, call(&input))
            default:
                carry(&sides)
                try settle(&sides[index])
            }
        }
        try finish(&sides)
    }

    private static func connect(_ machines: [ModelMachine], caller: Int, _ call: SessionCall)
        -> [ModelSession]
    {
        var sides = machines.enumerated().map { index, machine in
            ModelSession(machine, index == caller ? .call(call) : .answer, isPeerHonest: true)
        }
        for index in 0...1 { sides[index].begin(with: machines[1 - index].number) }
        return sides
    }

    private static func carry(_ sides: inout [ModelSession]) {
        for index in 0...1 { sides[1 - index].inbox += sides[index].takeOutbox() }
    }

    /// People agree and the disks are well from now on, and the two meet once more.
    private static func finish(_ sides: inout [ModelSession]) throws {
        for index in 0...1 {
            sides[index].isStoreFailing = false
            sides[index].machine.answer = nil
            sides[index].machine.showsCode = true
            sides[index].machine.files.luck = .good
        }
        try comeToRest(&sides)
        if sides.allSatisfy({ $0.session.end == nil }) { try checkEqual(sides) }
        let areBothPaired = sides.allSatisfy(\.machine.isPaired)
        sides = connect(
            sides.map(\.machine), caller: 0,
            SessionCall(pairing: areBothPaired ? .no : .again(ModelMachine.code)))
        try comeToRest(&sides)
        try checkEqual(sides)
        try checkFiles(sides)
        sides[0].stop()
        try comeToRest(&sides)
        for side in sides {
            guard side.session.isOver, case .asked? = side.session.end else {
                throw BrokenInvariant(description: "an honest session does not end with a goodbye")
            }
        }
    }

    private static func comeToRest(_ sides: inout [ModelSession]) throws {
        var rounds = 0
        repeat {
            for index in 0...1 {
                sides[index].machine.files.receiver.resume()
                sides[index].machine.files.receiver.retryBusy()
                sides[index].machine.files.receiver.retryTooLarge()
            }
            carry(&sides)
            for index in 0...1 { try settle(&sides[index]) }
            rounds += 1
            try expect(rounds < mostSteps, "two honest sides do not come to rest")
        } while sides.contains { !$0.outbox.isEmpty }
    }

    private static func checkEqual(_ sides: [ModelSession]) throws {
        if let index = sides.firstIndex(where: { !$0.isInSync }) {
            let end = sides.map { $0.session.end.map { "\($0)" } ?? "goes on" }
            throw BrokenInvariant(description: "side \(index) does not know that both hold the same: \(end)")
        }
        try expect(sides[0].zones == sides[1].zones, "the two exchange different zones")
        for id in sides[0].zones {
            // An old deletion of a record that lives again says nothing any more, and no digest counts it.
            let live = sides.map { $0.machine.store(id)?.live.map { ($0.name, $0.fields) } ?? [] }
            try expect(
                live[0].elementsEqual(live[1]) { $0 == $1 }, "two honest sides hold different records")
        }
    }

    private static func checkFiles(_ sides: [ModelSession]) throws {
        for (side, other) in [(sides[0], sides[1]), (sides[1], sides[0])] {
            let (files, others) = (side.machine.files, other.machine.files)
            try expect(!files.receiver.isAwaitingAnswers, "an answer is missing")
            let lacking = side.machine.wantedFiles.keys.filter {
                files.disk.files[$0] == nil && others.disk.files[$0] != nil
            }
            try expect(lacking.isEmpty, "\(lacking.count) files never come")
        }
    }
}
