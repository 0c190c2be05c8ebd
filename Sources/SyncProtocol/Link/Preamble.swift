import SyncModel

/// What every connection begins with, in the clear: who may go on, and in which version.
package enum Preamble {
    /// The payload of the first handshake message: the protocol's name and version. It is part of the handshake
    /// hash, so changing it on the way breaks the handshake.
    static let magic = Array("SBPEER".utf8)
    package static let payload = magic + [ProtocolLimits.majorVersion, UInt8(ProtocolLimits.minorVersion)]
    /// Each side binds this into the handshake without sending it, so machines of different apps cannot finish one.
    package static func prologue(_ app: AppID) -> [UInt8] {
        Array("scorebook-peer".utf8) + [ProtocolLimits.majorVersion] + Array(app.description.utf8)
    }
    /// Instead of a second handshake message: “I speak this version and not yours”. Nothing proves who says it, so
    /// it is good for a sentence to the user and for nothing else.
    package static let refusal = magic + [0xFF, ProtocolLimits.majorVersion]

    /// Holds the payload of a peer's first message against ours.
    package static func check(_ payload: [UInt8]) throws(ProtocolError) {
        guard payload.count >= magic.count + 2, payload.starts(with: magic) else {
            throw ProtocolError(.malformed, "what connected does not speak this protocol")
        }
        let version = payload[magic.count]
        guard version == ProtocolLimits.majorVersion else { throw unsupported(version) }
    }

    /// Whether a frame is a refusal, and of which version.
    package static func refusedVersion(_ frame: [UInt8]) -> UInt8? {
        frame.count == refusal.count && frame.starts(with: magic + [0xFF]) ? frame[magic.count + 1] : nil
    }

    package static func unsupported(_ version: UInt8) -> ProtocolError {
        ProtocolError(
            .unsupportedVersion,
            "the other machine speaks version \(version) of the protocol, this one version "
                + "\(ProtocolLimits.majorVersion); install the same version on both")
    }
}
