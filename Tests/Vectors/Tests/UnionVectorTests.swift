import Foundation
import PeerSync
import PeerSyncModel
import ProtocolVectors
import TestSupport
import Testing

@testable import PeerSyncProtocol

/// unions.json: what becomes of two default zones, by the two hellos. ``UnionTests`` has what is done then.
struct UnionVectorTests {
    private struct File: Decodable {
        let choices: [Meeting<Choice>]
        let answers: [Meeting<Answer>]
        let confirmations: [Meeting<Confirmation>]
    }

    /// Two sides that meet, and what comes of it.
    private struct Meeting<Result: Decodable>: Decodable {
        let why: String
        let caller: Side
        let listener: Side
        let results: [Result]
    }

    private struct Choice: Decodable {
        let wanted: UInt8?
        let chooses: UInt8?
        let error: UInt64?
    }

    private struct Answer: Decodable {
        let union: UInt8
        let allows: Bool?
        let zoneToBe: Zone?
        let error: UInt64?
    }

    private struct Confirmation: Decodable {
        struct Open: Decodable {
            let union: UInt8
            let zones: [Zone]
        }
        let union: UInt8
        let open: Open
        let error: UInt64?
    }

    private struct Zone: Decodable {
        let name: String
        let owner: Hex

        var id: ZoneID {
            get throws {
                ZoneID(name: try #require(ZoneName(name)), owner: ReplicaID(rawValue: owner.number))
            }
        }
    }

    private struct Side: Decodable {
        struct Offer: Decodable {
            let name: String
            let owner: Hex
            let calledHere: String
            let `default`: Bool
            let shared: Bool
            let rights: String
            let recordCount: String
            let fingerprint: Hex
        }
        let offers: [Offer]
        let alsoHas: [Zone]

        var zones: [ZoneOffer] {
            get throws {
                try offers.map { offer in
                    ZoneOffer(
                        id: try Zone(name: offer.name, owner: offer.owner).id, name: offer.calledHere,
                        isDefault: offer.default, isShared: offer.shared,
                        rights: offer.rights == "write" ? .write : .read,
                        recordCount: try #require(UInt64(offer.recordCount)),
                        fingerprint: offer.fingerprint.bytes)
                }
            }
        }

        var held: Set<ZoneID> {
            get throws { Set(try zones.map(\.id) + alsoHas.map { try $0.id }) }
        }
    }

    private func load() throws -> File { try Repository.vector("unions.json") }

    private func union(_ number: UInt8) throws -> ZoneUnion { try #require(ZoneUnion(rawValue: number)) }

    /// What one side makes of the two hellos.
    private func agreement<Result>(_ meeting: Meeting<Result>, isCaller: Bool) throws -> ZoneAgreement {
        let sides = (meeting.caller, meeting.listener)
        let (own, other) = isCaller ? sides : (sides.1, sides.0)
        return ZoneAgreement(
            ZoneAgreement.Situation(
                peer: "attic", isCaller: isCaller, own: try own.zones, theirs: try other.zones,
                held: try own.held))
    }

    /// Lets the user answer, if they are asked, and gives what the side then says or does.
    private func next(
        _ steps: [ZoneAgreement.Step], _ agreement: inout ZoneAgreement, answer: ZoneAnswer = .nobody
    ) throws -> [ZoneAgreement.Step] {
        var steps = steps
        if case .ask? = steps.first { steps = try agreement.decided(answer) }
        guard case .readTokens? = steps.first else {
            Issue.record("the side does not go on: \(steps)")
            return []
        }
        return agreement.tokensRead([:])
    }

    private func code(_ body: () throws -> Void) throws -> UInt64? {
        do {
            try body()
            return nil
        } catch let error as ProtocolError {
            return error.code.rawValue
        }
    }

    @Test func theCallerChoosesAsTheFileSays() throws {
        let meetings = try load().choices
        let results = meetings.flatMap(\.results)
        #expect(Set(results.map(\.wanted)) == [nil, 1, 2, 3, 4] && results.count > 50)
        for meeting in meetings {
            for choice in meeting.results {
                var agreement = try agreement(meeting, isCaller: true)
                var chosen: ZoneUnion?
                let error = try code {
                    let steps = try agreement.call(try choice.wanted.map(union))
                    if case .send(.open(let open))? = try next(steps, &agreement).first {
                        chosen = open.union
                    }
                }
                #expect(
                    chosen?.rawValue == choice.chooses && error == choice.error, "\(meeting.why) \(choice)")
            }
        }
    }

    @Test func theListenerAnswersAsTheFileSays() throws {
        let meetings = try load().answers
        let results = meetings.flatMap(\.results)
        #expect(Set(results.map(\.union)) == [0, 1, 2, 3, 4] && results.count > 50)
        for meeting in meetings {
            let zones = ZoneMeeting(caller: try meeting.caller.zones, listener: try meeting.listener.zones)
            for answer in meeting.results {
                let union = try union(answer.union)
                let said: ZoneAnswer =
                    switch answer.allows {
                    case nil: .nobody
                    case false?: .cancel
                    case true?: .union(union)
                    }
                var agreement = try agreement(meeting, isCaller: false)
                let error = try code {
                    let steps = try agreement.received(Message.Open(union: union, zones: []))
                    guard case .share? = try next(steps, &agreement, answer: said).first else {
                        Issue.record("the listener does not do its part")
                        return
                    }
                }
                #expect(error == answer.error, "\(meeting.why) \(answer)")
                guard error == nil, union != .none, union != .beside else { continue }
                #expect(try zones?.id(after: union) == answer.zoneToBe?.id, "\(meeting.why) \(answer)")
            }
        }
    }

    @Test func theCallerTakesTheAnswerAsTheFileSays() throws {
        let meetings = try load().confirmations
        #expect(Set(meetings.flatMap(\.results).map(\.error)) == [nil, 2])
        for meeting in meetings {
            for confirmation in meeting.results {
                let agreement = try agreement(meeting, isCaller: true)
                let open = Message.Open(
                    union: try union(confirmation.open.union),
                    zones: try confirmation.open.zones.map { .init(id: try $0.id, received: nil) })
                let error = try code {
                    try agreement.confirm(try union(confirmation.union), open)
                }
                #expect(error == confirmation.error, "\(meeting.why) \(confirmation)")
            }
        }
    }
}
