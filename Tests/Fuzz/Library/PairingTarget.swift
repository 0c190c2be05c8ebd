import PeerSyncChannel
import TestSupport

/// Pairing: whoever does not know the code gets nowhere, and whoever does only with what was made for this session.
enum PairingTarget {
    static func run(_ mode: Int, _ input: inout FuzzInput) throws {
        switch mode {
        case 0: try text(input.rest())
        case 1: try typing(&input)
        case 2, 3: try awaitingTag(&input)
        case 4: try showing(&input)
        default: try honest(&input)
        }
    }

    private static let code = try! PairingCode("042-917")
    private static let caller = HandshakeTarget.keyPair(1).publicKey
    private static let listener = HandshakeTarget.keyPair(3).publicKey
    private static let hash = [UInt8](repeating: 9, count: 32)

    private static func initiator(_ code: PairingCode, hash: [UInt8] = hash) -> PairingInitiator {
        PairingInitiator(
            code: code, handshakeHash: hash, initiatorStatic: caller, responderStatic: listener,
            scalar: scalar(5))
    }

    private static let responder = PairingResponder(
        code: code, handshakeHash: hash, initiatorStatic: caller, responderStatic: listener, scalar: scalar(6)
    )

    private static func scalar(_ byte: UInt8) -> SecretBytes {
        SecretBytes(copying: [byte] + [UInt8](repeating: 0, count: 31))
    }

    /// The side that typed the code, when it has sent its share.
    private static let begun: (machine: PairingInitiator, share: [UInt8]) = {
        var machine = initiator(code)
        let share = try! machine.start()
        return (machine, share)
    }()

    /// The other side, when it has sent its own.
    private static let answered: (machine: PairingResponder, share: [UInt8]) = {
        var machine = responder
        let share = try! machine.receive(share: begun.share)
        return (machine, share)
    }()

    /// The first side, when it has proved the code.
    private static let proved: (machine: PairingInitiator, tag: [UInt8]) = {
        var machine = begun.machine
        let tag = try! machine.receive(share: answered.share)
        return (machine, tag)
    }()

    private static func text(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        if let code = try? PairingCode(text) {
            try expect(
                code.formatted == text || code.formatted.filter { $0 != "-" } == text,
                "\(text) as \(code.formatted)")
            try expect(try PairingCode(code.formatted) == code, "a code is not what is shown of it")
        }
        if let key = try? PublicKey(hex: text) {
            try expect(key.hex == text.lowercased(), "\(text) as \(key.hex)")
        }
    }

    /// A stranger answers the side that typed the code.
    private static func typing(_ input: inout FuzzInput) throws {
        var machine = begun.machine
        let share = input.take(input.flag() ? 32 : Int(input.byte()))
        if let tag = try understood({ try machine.receive(share: share) }) {
            try expect(tag.count == 64 && share.count == 32, "a tag of \(tag.count) bytes for \(share.count)")
            let theirs = input.flag() ? tag : input.take(64)
            try expect(
                try understood { try machine.verify(tag: theirs) } == nil, "a stranger has proved the code")
        }
        try expect(!machine.isConfirmed, "a stranger has proved the code")
        try expect(try understood { try machine.receive(share: share) } == nil, "it goes on after an error")
    }

    private static func awaitingTag(_ input: inout FuzzInput) throws {
        var machine = answered.machine
        let tag = input.take(input.flag() ? 64 : Int(input.byte()))
        try expect(try understood { try machine.verify(tag: tag) } == nil, "a stranger has proved the code")
        try expect(!machine.isConfirmed, "a stranger has proved the code")
    }

    /// A stranger begins with the side that shows the code.
    private static func showing(_ input: inout FuzzInput) throws {
        var machine = responder
        let share = input.take(input.flag() ? 32 : Int(input.byte()))
        if let answer = try understood({ try machine.receive(share: share) }) {
            try expect(answer.count == 32 && share.count == 32, "a share of \(answer.count) bytes")
            let tag = input.take(64)
            try expect(
                try understood { try machine.verify(tag: tag) } == nil, "a stranger has proved the code")
        }
        try expect(!machine.isConfirmed, "a stranger has proved the code")
    }

    /// Two sides, with one code or two, in one session or two, and one byte that may change on the way.
    private static func honest(_ input: inout FuzzInput) throws {
        let flags = input.byte()
        let change = (step: input.number(below: 4), index: Int(input.byte()), mask: input.byte())
        let isSame = flags & 3 != 1
        let isOneSession = flags & 12 != 4
        let isUsual = isSame && isOneSession
        var left = begun.machine
        var first = begun.share
        if !isUsual {
            left = initiator(
                isSame ? code : try PairingCode("042918"),
                hash: isOneSession ? hash : [UInt8](repeating: 8, count: 32))
            first = try left.start()
        }
        var right = responder
        func changed(_ bytes: inout [UInt8], _ step: Int) -> Bool {
            guard change.step == step, change.mask != 0 else { return false }
            bytes[change.index % bytes.count] ^= change.mask
            return true
        }
        var isHonest = isUsual
        if changed(&first, 0) { isHonest = false }
        // What is always the same was computed before.
        var second = answered.share
        if isHonest {
            right = answered.machine
        } else {
            guard let share = try understood({ try right.receive(share: first) }) else { return }
            second = share
        }
        if changed(&second, 1) { isHonest = false }
        var third = proved.tag
        if isHonest {
            left = proved.machine
        } else {
            guard let tag = try understood({ try left.receive(share: second) }) else { return }
            third = tag
        }
        if changed(&third, 2) { isHonest = false }
        let fourth = try understood { try right.verify(tag: third) }
        try expect(
            (fourth != nil) == isHonest, isHonest ? "an honest tag was refused" : "a wrong tag was taken")
        guard var fourth else { return try expect(!right.isConfirmed, "confirmed after an error") }
        let isChanged = changed(&fourth, 3)
        let isVerified = try understood { try left.verify(tag: fourth) } != nil
        try expect(isVerified == !isChanged, "the last tag")
        try expect(left.isConfirmed == isVerified && right.isConfirmed, "confirmed without a proof")
    }

    /// The result, or nil for an error that may be.
    private static func understood<Value>(_ body: () throws -> Value) throws -> Value? {
        do {
            return try body()
        } catch is SecureChannelError {
            return nil
        }
    }
}
