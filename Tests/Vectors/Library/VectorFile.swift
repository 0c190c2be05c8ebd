import NIOCore
import PeerSyncModel
import PeerSyncProtocol

/// One file of `Protocol/vectors` that this package makes. The other files hold values that others have published, or
/// that another program has computed; tests only check the code against them.
package struct VectorFile: Sendable {
    /// The name without the folder, with `.json`.
    package let name: String
    package let content: JSON

    init(
        _ name: String, _ description: String, of document: String = "protocol.md", section: String,
        _ members: [(String, JSON)]
    ) {
        self.name = name
        content = .object(
            [
                ("description", .string(description)),
                ("source", "Made by this project's code (swift run make-vectors)"),
                ("section", .string("\(document) \(section)")),
            ] + members)
    }

    /// Makes all files.
    package static func all() async throws -> [VectorFile] {
        [
            try handshake(), try pairing(), try discovery(), primitives, keys, values, messages, try frames(),
            merge,
            try await rules(),
            digests, clock,
            try reconciliation(), malformed, unions, household, try mailbox(), try await sessions(),
        ]
    }
}

extension Message {
    /// The whole message, with its length in front.
    package var encoded: ByteBuffer {
        var buffer = ByteBuffer()
        MessageCodec.encode(self, into: &buffer)
        return buffer
    }
}
