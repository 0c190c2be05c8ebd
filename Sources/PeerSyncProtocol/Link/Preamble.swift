import PeerSyncModel

/// The unencrypted beginning of every connection: the name of the protocol and its version.
package enum Preamble {
    /// The payload of the first handshake message: the protocol's name and version. It is part of the handshake hash,
    /// so a change on the way breaks the handshake.
    static let magic = Array("SBPEER".utf8)
    package static let payload = magic + [ProtocolLimits.majorVersion, UInt8(ProtocolLimits.minorVersion)]
    /// Bytes that both sides bind into the handshake without sending them. Machines of different apps have different bytes,
    /// so they cannot finish a handshake.
    package static func prologue(_ app: AppID) -> [UInt8] {
        Array("scorebook-peer".utf8) + [ProtocolLimits.majorVersion] + Array(app.description.utf8)
    }
    /// The answer in place of a second handshake message: “I speak this version and not yours”. Nothing proves who
    /// sends it, so it is good only for a sentence to the user.
    package static let refusal = magic + [0xFF, ProtocolLimits.majorVersion]

    /// Checks the payload of a peer's first message against ours.
    package static func check(_ payload: [UInt8]) throws(ProtocolError) {
        guard payload.count >= magic.count + 2, payload.starts(with: magic) else {
            throw ProtocolError(.malformed, "what connected does not speak this protocol")
        }
        let version = payload[magic.count]
        guard version == ProtocolLimits.majorVersion else { throw unsupported(version) }
    }

    /// Returns the version in a frame that is a refusal; nil for any other frame.
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
