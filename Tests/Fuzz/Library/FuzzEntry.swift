/// What the fuzzer runs: each entry takes any bytes, feeds them to one part of the protocol, and holds what comes of it
/// against what must always be so.
///
/// The first byte of an input chooses what the rest is for. A trap ends the process, which the fuzzer reports; whatever
/// else must not be is thrown as ``BrokenInvariant``.
package enum FuzzEntry: String, CaseIterable, Sendable {
    /// Bytes of a connection, cut anywhere, into frames and messages.
    case frames
    /// Noise, transport ciphers and pairing, against a stranger.
    case handshake
    /// Messages out of their bytes, and back.
    case messages
    /// Batches, values, names and stored records out of their bytes, and back; merging and digests.
    case records
    /// Reconciliation, with a hostile side and with an honest one.
    case negentropy
    /// The machines of a session, with a hostile side and with an honest one.
    case session

    /// How long an input may be, in bytes: as much as reaches every bound that does not take megabytes.
    package var maximumLength: Int {
        switch self {
        case .frames, .messages, .records: 4096
        case .handshake, .negentropy: 1024
        // A session needs some to get to where records are exchanged.
        case .session: 512
        }
    }

    /// How much memory an input of that length may take at a time, in bytes, all checks included: what is decoded takes no
    /// more than a fixed multiple of its bytes, whatever lengths and counts it claims; and the models of a side that
    /// holds something, some of their own.
    package func memoryLimit(length: Int) -> Int {
        switch self {
        case .frames, .handshake, .messages, .records: 256 * length + (64 << 10)
        case .negentropy, .session: 256 * length + (1 << 20)
        }
    }

    /// How many first bytes lead to different things.
    package var modes: Int {
        switch self {
        case .frames: FrameTarget.modes
        case .handshake: HandshakeTarget.modes
        case .messages: MessageTarget.modes
        case .records: RecordTarget.modes
        case .negentropy: NegentropyTarget.modes
        case .session: SessionTarget.modes
        }
    }

    /// - Throws: ``BrokenInvariant``, or whatever came out of a part that must not throw that.
    package func run(_ bytes: UnsafeRawBufferPointer) throws {
        var input = FuzzInput(bytes)
        let mode = input.number(below: modes)
        switch self {
        case .frames: try FrameTarget.run(mode, &input)
        case .handshake: try HandshakeTarget.run(mode, &input)
        case .messages: try MessageTarget.run(mode, &input)
        case .records: try RecordTarget.run(mode, &input)
        case .negentropy: try NegentropyTarget.run(mode, &input)
        case .session: try SessionTarget.run(mode, &input)
        }
    }

    /// The same for an array.
    package func run(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try run($0) }
    }
}
