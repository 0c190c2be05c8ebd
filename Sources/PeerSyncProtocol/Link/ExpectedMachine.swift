import PeerSyncChannel
import PeerSyncModel

/// The machine that a caller wants to speak with. It hangs up on every other before it has said who it is itself.
package enum ExpectedMachine: Sendable, Hashable {
    case anyone
    case holder(of: PublicKey)
    /// The holder of one of these keys.
    case oneOf([PublicKey])
    /// The holder of the key with this ``hash(of:)``.
    case hash([UInt8])

    /// Bytes of a key's hash.
    package static let hashLength = 16

    /// Another machine answered.
    package struct Mismatch: Error {}

    /// The hash of a key, for people's cameras: as short as may be, and yet nobody can find another key for it.
    package static func hash(of key: PublicKey) -> [UInt8] {
        BLAKE2b.hash(key.bytes, length: hashLength)
    }

    package func admits(_ key: PublicKey) -> Bool {
        switch self {
        case .anyone: true
        case .holder(let expected): key == expected
        case .oneOf(let expected): expected.contains(key)
        case .hash(let hash): Self.hash(of: key) == hash
        }
    }
}
