import TestSupport
import Testing

@testable import PeerSyncChannel

extension Hex {
    var secret: SecretBytes { SecretBytes(copying: bytes) }
}

extension SecretBytes {
    /// The content, which only tests look at.
    var revealed: [UInt8] { withUnsafeBytes { Array($0) } }
}

extension [UInt8] {
    /// A copy in which one byte is changed.
    func flipped(at index: Int, by mask: UInt8 = 0x01) -> [UInt8] {
        var copy = self
        copy[index] ^= mask
        return copy
    }
}

/// Runs `body` and returns the code of the error that it throws, or nil if it throws none.
func failure<Result>(_ body: () throws -> Result) -> SecureChannelError.Code? {
    do {
        _ = try body()
        return nil
    } catch let error as SecureChannelError {
        return error.code
    } catch {
        Issue.record("an error of another type: \(error)")
        return nil
    }
}
