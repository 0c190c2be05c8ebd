import Foundation
import PeerSyncChannel
import PeerSyncModel
import TestSupport

/// What sessions.json holds, as far as a replay needs it.
struct SessionFile: Decodable {
    let cases: [Case]

    struct Case: Decodable, Sendable {
        let title: String
        let wish: Wish
        let caller: Side
        let listener: Side
        let conversation: [Entry]
    }

    struct Wish: Decodable, Sendable {
        let union: UInt8?
        let startOver: Bool
        let compareEverything: Bool
        /// What the listener's user says.
        let allows: Bool?
    }

    struct Side: Decodable, Sendable {
        let staticSecret: Hex
        let displayName: String
        let instance: Hex
        /// Those that its store draws in the session.
        let generations: [Hex]
        let before: Store
        let after: Store

        var keyPair: KeyPair {
            get throws { try KeyPair(secretKey: SecretBytes(copying: staticSecret.bytes)) }
        }
    }

    /// What happens in a session: a message, or a step of a user.
    struct Entry: Decodable, Sendable {
        struct Message: Decodable, Sendable { let type: String }

        let from: String?
        let on: Int?
        let bytes: Hex?
        let message: Message?
        let at: String?
        let writes: [State]?
    }

    struct Store: Decodable, Sendable {
        let lastNumber: Decimal
        let greatestTime: Hex
        let generations: [Generation]
        let zones: [Zone]
    }

    struct Generation: Decodable, Sendable {
        let generation: Hex
        let firstNumber: Decimal
    }

    struct Zone: Decodable, Sendable {
        let name: String
        let owner: Hex
        let calledHere: String
        let `default`: Bool
        let shared: Bool
        let rights: Int64?
        let received: Token?
        let acknowledged: Decimal
        let forgotten: Decimal
        let refused: [Refusal]
        let records: [Record]

        var id: ZoneID? {
            ZoneName(name).map { ZoneID(name: $0, owner: ReplicaID(rawValue: owner.number)) }
        }
    }

    struct Token: Decodable, Sendable {
        let generation: Hex
        let sequence: Decimal
        let horizon: Decimal
    }

    struct Refusal: Decodable, Sendable {
        let name: String
        let reason: Int64
    }

    struct Record: Decodable, Sendable {
        let number: Decimal
        let group: Decimal
        let fromPeer: Bool
        let state: State
    }

    struct State: Decodable, Sendable {
        let name: String
        let fields: [Field]
        let deletion: StampText?
        let revival: StampText?
        let erasure: StampText?

        var state: RecordState {
            get throws {
                RecordState(
                    name: try RecordName(name), fields: fields.flatMap(\.fields),
                    deletion: deletion?.stamp, revival: revival?.stamp, erasure: erasure?.stamp)
            }
        }
    }

    /// A field, or many that are alike.
    struct Field: Decodable, Sendable {
        let name: String
        let times: Int?
        let value: Value
        let stamp: StampText

        var fields: [RecordField] {
            guard let times else { return [RecordField(name: name, value: value.value, stamp: stamp.stamp)] }
            return (1...times).map { number in
                let digits = "\(number)"
                let full = name + String(repeating: "0", count: 4 - digits.count) + digits
                return RecordField(name: full, value: value.value, stamp: stamp.stamp)
            }
        }
    }

    struct StampText: Decodable, Sendable {
        let time: Hex
        let replica: Hex

        var stamp: Stamp {
            Stamp(time: HybridTime(rawValue: time.number), replica: ReplicaID(rawValue: replica.number))
        }
    }

    /// Of the kinds of values those that sessions.json has.
    struct Value: Decodable, Sendable {
        let value: FieldValue

        private enum Kind: String, CodingKey { case integer, text }
        private struct Repeated: Decodable {
            let repeated: String
            let times: Int
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Kind.self)
            if let integer = try container.decodeIfPresent(Decimal.self, forKey: .integer) {
                value = .integer(integer.number)
            } else if let text = try? container.decode(String.self, forKey: .text) {
                value = .text(text)
            } else {
                let text = try container.decode(Repeated.self, forKey: .text)
                value = .text(String(repeating: text.repeated, count: text.times))
            }
        }
    }

    /// A whole number that a file spells in decimal digits.
    struct Decimal: Decodable, Sendable {
        let number: Int64

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            guard let number = Int64(try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "not decimal")
            }
            self.number = number
        }
    }
}

extension Hex {
    /// 64 bits.
    var number: UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
