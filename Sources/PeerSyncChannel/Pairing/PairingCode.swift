import CSodium

/// The six digits that one machine shows and a person types on the other.
///
/// A code is weak, one of a million. It is safe only because every attempt needs a run with a machine that counts:
/// show it for minutes, allow a few attempts, pair one machine with it. The last copy of the code erases the memory of
/// the digits. The text that a code was read from, and the result of ``formatted``, are Swift strings, which nobody
/// can erase.
public struct PairingCode: Sendable, Equatable {
    /// The number of digits.
    public static let digitCount = 6

    /// The digits in ASCII, without the hyphen: CPace's password-related string.
    let digits: SecretBytes

    /// Reads a code as people write it: `123-456` or `123456`.
    ///
    /// - Throws: ``SecureChannelError`` with `malformedPairingDigits` for anything else. The error does not
    ///   repeat the text, which may be a code with one digit wrong.
    public init(_ text: String) throws {
        var ascii = Array(text.utf8)
        defer { ascii.withUnsafeMutableBytes { sodium_memzero($0.baseAddress, $0.count) } }
        if ascii.count == Self.digitCount + 1, ascii[Self.digitCount / 2] == UInt8(ascii: "-") {
            ascii.remove(at: Self.digitCount / 2)
        }
        let isDigit = { (byte: UInt8) in UInt8(ascii: "0") <= byte && byte <= UInt8(ascii: "9") }
        guard ascii.count == Self.digitCount, ascii.allSatisfy(isDigit) else {
            throw SecureChannelError(
                .malformedPairingDigits, "A pairing code has six digits, written as 123-456 or 123456.")
        }
        digits = SecretBytes(copying: ascii)
    }

    private init(digits: SecretBytes) {
        self.digits = digits
    }

    /// Returns a new code; all million codes are equally likely.
    public static func random() -> PairingCode {
        let digits = SecretBytes(count: digitCount) { memory in
            for index in 0..<digitCount {
                // The digits are uniform: randombytes_uniform rejects values that would favour some of them.
                memory[index] = UInt8(ascii: "0") + UInt8(randombytes_uniform(10))
            }
        }
        return PairingCode(digits: digits)
    }

    /// The code to show to the person who is going to type it: `123-456`.
    public var formatted: String {
        digits.withUnsafeBytes { digits in
            let half = Self.digitCount / 2
            return String(decoding: digits.prefix(half), as: UTF8.self) + "-"
                + String(decoding: digits.dropFirst(half), as: UTF8.self)
        }
    }
}

extension PairingCode: CustomStringConvertible {
    /// A placeholder, so that no log shows a code; ``formatted`` is the code.
    public var description: String { "PairingCode(***-***)" }
}
