import TestSupport
import Testing

@testable import PeerSyncModel

/// Whatever the other side sends, there is an answer or an error, and an end.
struct NegentropyHostileTests {
    static let sets = NegentropySets(seed: 11, shared: 300, mine: 40, theirs: 60, timestamps: 100)

    @Test(arguments: [0, 4096])
    func changedMessagesLeadToAnAnswerOrAnError(limit: Int) throws {
        let mine = try NegentropyVector(Self.sets.mine)
        let exchange = try NegentropyExchange(Self.sets, initiatorLimit: limit, responderLimit: limit)
        let responder = NegentropyResponder(storage: mine, frameSizeLimit: limit)
        var generator = SeededGenerator(seed: 12)
        for round in 0..<1500 {
            let original = exchange.messages[round % exchange.messages.count]
            let message = Self.mutated(original, using: &generator)
            Self.check(limit, message.count) { try responder.reconcile(message) }
            var initiator = NegentropyInitiator(storage: mine, frameSizeLimit: limit)
            Self.check(limit, message.count) { try initiator.reconcile(message).message ?? [] }
        }
    }

    @Test func randomBytesLeadToAnAnswerOrAnError() throws {
        let responder = NegentropyResponder(storage: try NegentropyVector(Self.sets.mine))
        var generator = SeededGenerator(seed: 13)
        for _ in 0..<3000 {
            let count = Int.random(in: 0...60, using: &generator)
            // Small numbers are more likely to mean something.
            let greatest: UInt8 = [2, 40, 255].randomElement(using: &generator)!
            let rest = (0..<count).map { _ in UInt8.random(in: 0...greatest, using: &generator) }
            Self.check(0, count) { try responder.reconcile([0x61] + rest) }
        }
    }

    /// A message has room for millions of ranges in which nobody has anything. What is kept of one says nothing.
    @Test func emptyRangesAreNotKept() throws {
        let nothing = NegentropyReconciler(
            storage: try NegentropyVector([]), role: .initiator, frameSizeLimit: 0)
        let range: [UInt8] = [1, 0, 2, 0]
        let answer = try nothing.answer(to: [0x61] + (0..<1000).flatMap { _ in range })
        #expect(answer.lists.isEmpty)
        #expect(answer.message == [0x61])
    }

    /// Only errors of this component, and answers within the frame or, without one, what own items and message
    /// account for.
    static func check(_ limit: Int, _ length: Int, _ answer: () throws -> [UInt8]) {
        do {
            let count = try answer().count
            let bound = limit > 0 ? limit : 60 * sets.mine.count + 16 * length
            #expect(count <= bound)
        } catch {
            #expect(error is NegentropyError)
        }
    }

    /// One to three changes: bytes turned, taken out, put in, repeated, the end cut off.
    static func mutated(_ message: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var message = message
        for _ in 0..<Int.random(in: 1...3, using: &generator) where !message.isEmpty {
            // Mostly near the beginning, where it changes what follows.
            let reach = Bool.random(using: &generator) ? min(40, message.count) : message.count
            let place = Int.random(in: 0..<reach, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: message[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1: message[place] = [0, 1, 2, 0x20, 0x7F, 0x80, 0xFF].randomElement(using: &generator)!
            case 2: message.removeSubrange(place...)
            case 3: message.removeSubrange(place..<min(message.count, place + 20))
            case 4: message.insert(contentsOf: message[place..<min(message.count, place + 60)], at: place)
            default:
                message.insert(
                    contentsOf: (0..<9).map { _ in UInt8.random(in: 0...255, using: &generator) }, at: place)
            }
        }
        return message
    }

    /// Lists that repeat ids, and list again what was listed, tell nothing twice.
    @Test func repeatedIDsAreToldOnce() throws {
        let item = NegentropyReferenceTests.item(5, 1)
        let list = "02" + NegentropyReferenceTests.ids(9, 9)
        var initiator = NegentropyInitiator(storage: try NegentropyVector([item]))
        // Both ranges, and then one that differs, so that there is a next round.
        let first = "61" + "0400" + "02" + list + "0400" + "02" + list
        let step = try initiator.reconcile(Hex(first + "000001" + String(repeating: "ee", count: 16)).bytes)
        #expect(step.need.map(\.bytes) == [Array(repeating: 9, count: 32)])
        #expect(step.have == [item.id])
        #expect(step.message != nil)
        let last = try initiator.reconcile(Hex("61000002" + list).bytes)
        #expect(last.need.isEmpty && last.have.isEmpty && last.message == nil)
    }

    @Test func anAnswerThatNeverAgreesIsGivenUp() throws {
        var initiator = NegentropyInitiator(
            storage: try NegentropyVector(Self.sets.mine), maximumRounds: 50)
        let never = Hex("61000001" + String(repeating: "ee", count: 16)).bytes
        for _ in 0..<50 { #expect(try initiator.reconcile(never).message != nil) }
        #expect(throws: NegentropyError.tooManyRounds(50)) { try initiator.reconcile(never) }
    }

    @Test func moreClaimedIDsThanAllowedEndIt() throws {
        let storage = try NegentropyVector([])
        let claim = Hex("6100000203" + NegentropyReferenceTests.ids(1, 2, 3)).bytes
        var enough = NegentropyInitiator(storage: storage, maximumNeed: 3)
        #expect(try enough.reconcile(claim).need.count == 3)
        var tooFew = NegentropyInitiator(storage: storage, maximumNeed: 2)
        #expect(throws: NegentropyError.tooManyNeeded(2)) { try tooFew.reconcile(claim) }
    }
}
