import NIOCore
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol
import ProtocolVectors
import TestSupport
import Testing

/// The other direction: what the files hold is read as they say.
struct VectorContentTests {
    // MARK: Messages

    private struct Messages: Decodable {
        struct Entry: Decodable { let bytes: Hex }
        let messages: [Entry]
        let readsAs: [Entry]
    }

    private func decode(_ bytes: [UInt8], limit: Int = ProtocolLimits.maximumMessage) throws -> Message? {
        var buffer = ByteBuffer(bytes: bytes)
        let message = try MessageCodec.decode(&buffer, limit: limit)
        if message != nil { #expect(buffer.readableBytes == 0, "something is left after the message") }
        return message
    }

    @Test func messagesAreReadAsTheFileSays() throws {
        let file: Messages = try Repository.vector("messages.json")
        #expect(file.messages.count == VectorFile.samples.count)
        for (entry, message) in zip(file.messages, VectorFile.samples) {
            #expect(try decode(entry.bytes.bytes) == message)
        }
        #expect(file.readsAs.count == VectorFile.tolerated.count)
        for (entry, (why, _, message)) in zip(file.readsAs, VectorFile.tolerated) {
            #expect(try decode(entry.bytes.bytes) == message, "\(why)")
        }
    }

    @Test func everyTypeOfMessageIsThere() throws {
        let file: Messages = try Repository.vector("messages.json")
        let types = file.messages.map { entry -> UInt64? in
            var buffer = ByteBuffer(bytes: entry.bytes.bytes)
            _ = buffer.readVarintIfPresent()
            return buffer.readVarintIfPresent()
        }
        #expect(Set(types) == Set(1...22))
    }

    private struct Malformed: Decodable {
        struct Entry: Decodable {
            let why: String
            let bytes: Hex
            let error: UInt64
        }
        struct Long: Decodable {
            struct Part: Decodable {
                let bytes: Hex
                let times: Int
            }
            let why: String
            let parts: [Part]
            let error: UInt64
        }
        let messages: [Entry]
        let longMessages: [Long]
        let beforeGreeting: [Entry]
        let outOfTurn: [Entry]
    }

    private func expectError(_ code: UInt64, _ bytes: [UInt8], limit: Int, _ why: String) {
        let error = #expect(throws: ProtocolError.self, "\(why)") { try decode(bytes, limit: limit) }
        #expect(error?.code.rawValue == code, "\(why)")
    }

    @Test func malformedMessagesAreRefusedAsTheFileSays() throws {
        let file: Malformed = try Repository.vector("malformed.json")
        #expect(file.messages.count > 90)
        for entry in file.messages {
            expectError(entry.error, entry.bytes.bytes, limit: ProtocolLimits.maximumMessage, entry.why)
        }
        for entry in file.longMessages {
            let bytes = entry.parts.flatMap { part in (0..<part.times).flatMap { _ in part.bytes.bytes } }
            expectError(entry.error, bytes, limit: ProtocolLimits.maximumMessage, entry.why)
        }
        for entry in file.beforeGreeting {
            expectError(
                entry.error, entry.bytes.bytes, limit: ProtocolLimits.maximumUnpairedMessage, entry.why)
        }
    }

    /// So that each breaks the rule that it names, and no other: the parts they were made of are in order.
    @Test func whatIsOutOfTurnIsInOrderOtherwise() throws {
        let file: Malformed = try Repository.vector("malformed.json")
        for entry in file.outOfTurn { #expect(try decode(entry.bytes.bytes) != nil, "\(entry.why)") }
        #expect(try decode(Array(VectorFile.soundBatch.readableBytesView)) != nil)
    }

    // MARK: Keys

    private struct Keys: Decodable {
        struct Entry: Decodable {
            let kinds: [String]
            let suffix: String
        }
        let noKey: [Entry]
    }

    @Test func suffixesOfNoKeyAreRefused() throws {
        let file: Keys = try Repository.vector("keys.json")
        #expect(file.noKey.count == VectorFile.strangeSuffixes.count)
        let kinds: [String: KeyEncoding.Kind] = ["text": .text, "blob": .blob, "integer": .integer]
        for entry in file.noKey {
            let kinds = try entry.kinds.map { try #require(kinds[$0]) }
            #expect(KeyEncoding.values(of: entry.suffix, kinds: kinds) == nil, "\(entry.suffix)")
        }
    }

    // MARK: Frames

    private struct Frames: Decodable {
        struct Case: Decodable {
            let why: String
            let plaintexts: [Hex]
            let frames: [Hex]
        }
        let key: Hex
        let cases: [Case]
    }

    @Test func framesOpenToTheirPlaintexts() throws {
        let file: Frames = try Repository.vector("frames.json")
        for entry in file.cases {
            var cipher = ReceivingCipher(key: SecretBytes(copying: file.key.bytes))
            var decoder = FrameDecoder(limit: ProtocolLimits.maximumFrame)
            decoder.append(ByteBuffer(bytes: entry.frames.flatMap(\.bytes)))
            var plaintexts: [[UInt8]] = []
            while let frame = try decoder.next() {
                plaintexts.append(try cipher.open(Array(frame.readableBytesView)))
            }
            #expect(plaintexts == entry.plaintexts.map(\.bytes), "\(entry.why)")
        }
    }

    private struct Handshake: Decodable {
        struct Frame: Decodable {
            let why: String
            let frame: Hex
            let result: String
        }
        let refused: [Frame]
        let secondFrame: [Frame]
    }

    private struct Good: Decodable {
        struct Frame: Decodable {
            let from: String
            let frame: Hex
        }
        let frames: [Frame]
        let handshakeHash: Hex
    }

    private func link(_ role: NoiseHandshake.Role) -> LinkHandshake {
        let isCaller = role == .initiator
        return LinkHandshake(
            role: role, app: VectorKeys.app, staticKey: isCaller ? VectorKeys.caller : VectorKeys.listener,
            ephemeral: isCaller ? VectorKeys.callerEphemeral : VectorKeys.listenerEphemeral)
    }

    /// The frames that a link sends until it has to wait, and the hash if it is done.
    private func steps(_ link: inout LinkHandshake) throws -> (sent: [[UInt8]], hash: [UInt8]?) {
        var sent: [[UInt8]] = []
        while let step = try link.next() {
            switch step {
            case .send(let bytes): sent.append(Array(bytes.readableBytesView))
            case .refuse(let bytes, let error):
                throw Refusal(frame: Array(bytes.readableBytesView), code: error.code)
            case .done(let ciphers, _): return (sent, ciphers.handshakeHash)
            }
        }
        return (sent, nil)
    }

    private struct Refusal: Error {
        let frame: [UInt8]
        let code: ProtocolError.Code
    }

    @Test func linksShakeHandsAsTheFileSays() throws {
        let file: Good = try Repository.vector("handshake.json")
        let frames = file.frames.map(\.frame.bytes)
        var (caller, listener) = (link(.initiator), link(.responder))
        let opening = try #require(try caller.start())
        #expect(Array(opening.readableBytesView) == frames[0])
        listener.append(opening)
        let second = try steps(&listener)
        #expect(second.sent == [frames[1]] && second.hash == nil)
        caller.append(ByteBuffer(bytes: frames[1]))
        let third = try steps(&caller)
        #expect(third.sent == [frames[2]] && third.hash == file.handshakeHash.bytes)
        listener.append(ByteBuffer(bytes: frames[2]))
        let end = try steps(&listener)
        #expect(end.sent.isEmpty && end.hash == file.handshakeHash.bytes)
    }

    @Test func badFirstFramesAreRefused() throws {
        let file: Handshake = try Repository.vector("handshake.json")
        for entry in file.refused {
            var listener = link(.responder)
            listener.append(ByteBuffer(bytes: entry.frame.bytes))
            let error = #expect(throws: (any Error).self, "\(entry.why)") { try steps(&listener) }
            let refusal = error as? Refusal
            #expect((refusal?.frame.hexadecimal ?? "closed") == entry.result, "\(entry.why)")
            if let refusal { #expect(refusal.code == .unsupportedVersion) }
        }
    }

    @Test func badSecondFramesAreRefused() throws {
        let file: Handshake = try Repository.vector("handshake.json")
        for entry in file.secondFrame {
            var caller = link(.initiator)
            _ = try caller.start()
            caller.append(ByteBuffer(bytes: entry.frame.bytes))
            let error = #expect(throws: (any Error).self, "\(entry.why)") { try steps(&caller) }
            let isOfVersion = (error as? ProtocolError)?.code == .unsupportedVersion
            #expect(isOfVersion == (entry.result != "closed"), "\(entry.why)")
        }
    }

    @Test func singleMessagesOfNegentropyAreTakenOrRefused() throws {
        struct File: Decodable {
            struct Entry: Decodable {
                let why: String
                let bytes: Hex
                let malformed: Bool
            }
            let single: [Entry]
        }
        let file: File = try Repository.vector("reconciliation.json")
        #expect(file.single.count == VectorFile.singleMessages.count)
        let responder = NegentropyResponder(storage: try NegentropyVector([]))
        for entry in file.single {
            let answer = try? responder.reconcile(entry.bytes.bytes)
            #expect((answer == nil) == entry.malformed, "\(entry.why)")
        }
    }

    // MARK: Records

    @Test func valuesComeBackFromTheWireAndNoTwoAreEqual() throws {
        let values = VectorFile.sampleValues
        #expect(Set(values).count == values.count)
        for value in values {
            let state = Samples.state("A|~|1", [("x", value, Samples.stamp(0))])
            let batch = Message.batch(
                zone: 0, ChangeBatch(records: [state], token: Samples.token, isLast: true))
            #expect(try decode(Array(batch.encoded.readableBytesView)) == batch)
        }
    }

    @Test func theOrderOfMergingDoesNotMatterNorDoesRepetition() {
        for (why, states) in VectorFile.mergeCases {
            let expected = merged(states)
            for order in permutations(states) {
                #expect(merged(order) == expected, "\(why)")
                #expect(merged(order + order) == expected, "\(why)")
            }
        }
    }

    /// All at once, and in the reverse order: a vector must not depend on the order of its states.
    @Test func theRulesComeToWhatTheTextSaysWhateverTheOrderOfTheStates() async throws {
        for entry in VectorFile.ruleCases {
            var reversed = entry
            reversed.states.reverse()
            #expect(try await VectorFile.outcome(of: entry) == entry.expected, "\(entry.why)")
            #expect(try await VectorFile.outcome(of: reversed) == entry.expected, "\(entry.why), reversed")
        }
    }

    private func merged(_ states: [RecordState]) -> RecordState {
        var result = states[0]
        for state in states.dropFirst() { result.merge(state) }
        return result
    }

    private func permutations<Element>(_ elements: [Element]) -> [[Element]] {
        guard elements.count > 1 else { return [elements] }
        return elements.indices.flatMap { index in
            var rest = elements
            let first = rest.remove(at: index)
            return permutations(rest).map { [first] + $0 }
        }
    }
}
