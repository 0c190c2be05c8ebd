import PeerSyncChannel
import TestSupport

/// Transport messages: what was sealed opens once and in order, nothing else does, and after that nothing at all.
enum TransportTarget {
    private static let key = SecretBytes(copying: [UInt8](1...32))
    /// At the beginning, around a change of key, and before the end.
    private static let nonces: [UInt64] = [0, 65_534, 65_535, 131_071, .max - 1, .max]

    static func run(_ input: inout FuzzInput) throws {
        let start = nonces[input.number(below: nonces.count)]
        var sending = SendingCipher(key: key, startNonce: start)
        var receiving = ReceivingCipher(key: key, startNonce: start)
        var lost: [UInt8]?
        repeat {
            let operation = input.number(below: 8)
            let plain = input.take(Int(input.byte()))
            let before = receiving.nonce
            let sealed: [UInt8]
            do {
                sealed = try sending.seal(plain)
            } catch {
                try expect(sending.nonce == .max, "\(error) at \(sending.nonce)")
                return try refuse(&receiving, [UInt8](repeating: 0, count: 32))
            }
            try expect(sealed.count == plain.count + 16, "\(plain.count) bytes became \(sealed.count)")
            switch operation {
            case 0...3:
                try expect(try receiving.open(sealed) == plain, "a message came as another")
                try expect(receiving.nonce == before.map { $0 + 1 }, "the nonce is \(receiving.nonce ?? 0)")
                lost = sealed
            case 4:
                var changed = sealed
                let mask = input.byte()
                changed[Int(input.byte()) % changed.count] ^= mask == 0 ? 1 : mask
                return try refuse(&receiving, changed)
            case 5: return try refuse(&receiving, Array(sealed.dropLast(input.number(below: 32) + 1)))
            // Again, or another's.
            case 6: return try refuse(&receiving, lost ?? plain)
            default: return try refuse(&receiving, input.rest())
            }
        } while !input.isAtEnd
    }

    private static func refuse(_ cipher: inout ReceivingCipher, _ message: [UInt8]) throws {
        for expected in [nil, SecureChannelError.Code.wrongState] {
            do {
                _ = try cipher.open(message)
            } catch let error as SecureChannelError {
                try expect(expected == nil || error.code == expected, "\(error) after the end")
                continue
            }
            throw BrokenInvariant(description: "\(message) was opened")
        }
        try expect(cipher.nonce == nil, "a cipher that is of use after an error")
    }
}
