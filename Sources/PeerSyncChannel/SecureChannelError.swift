/// An error of a secure channel or a pairing.
///
/// Programs decide by ``code``, people read ``message``. Neither ever holds key material, or tells which byte was
/// wrong, because the other end may be an attacker.
public struct SecureChannelError: Error, Hashable, Sendable {
    /// The kind of an error, under a name that stays the same in later versions.
    ///
    /// This is a struct and not an enum, so that new kinds do not break a caller's `switch`.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The stable name, fit for logs.
        public let rawValue: String

        /// Makes a code from its stable name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The stable name.
        public var description: String { rawValue }

        /// An encrypted message was changed, came out of order, or was made with another key.
        public static let authenticationFailed = Code(rawValue: "authenticationFailed")
        /// A message has a length that no honest peer's message has.
        public static let malformedMessage = Code(rawValue: "malformedMessage")
        /// Bytes or text given as a key are not a key.
        public static let malformedKey = Code(rawValue: "malformedKey")
        /// Text given as a pairing code is not a pairing code.
        public static let malformedPairingDigits = Code(rawValue: "malformedPairingDigits")
        /// A public key or share is invalid, or leads to a shared secret that anybody can know.
        public static let lowOrderPoint = Code(rawValue: "lowOrderPoint")
        /// A key has encrypted as many messages as it ever may.
        public static let nonceExhausted = Code(rawValue: "nonceExhausted")
        /// A message would be, or is, longer than 65,535 bytes.
        public static let messageTooLong = Code(rawValue: "messageTooLong")
        /// The step is not the next one, or an earlier failure has ended the exchange.
        public static let wrongState = Code(rawValue: "wrongState")
        /// A pairing share came back to its sender.
        public static let reflectedShare = Code(rawValue: "reflectedShare")
        /// The other side does not know the pairing code, or someone sits in between.
        public static let confirmationFailed = Code(rawValue: "confirmationFailed")
    }

    /// The kind of the error.
    public let code: Code

    /// One sentence for people.
    public let message: String

    /// Makes an error.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension SecureChannelError: CustomStringConvertible {
    /// The message, followed by the code in brackets.
    public var description: String { "\(message) [\(code)]" }
}

extension SecureChannelError {
    static func wrongState(_ step: String) -> SecureChannelError {
        SecureChannelError(
            .wrongState,
            "\(step) is not possible now: it is out of turn, or an earlier failure ended the exchange.")
    }

    static let authenticationFailed = SecureChannelError(
        .authenticationFailed, "An encrypted message could not be authenticated.")

    static let messageTooLong = SecureChannelError(
        .messageTooLong,
        "A message is longer than the \(NoiseLimits.maximumMessageLength) bytes that Noise allows.")

    static let nonceExhausted = SecureChannelError(
        .nonceExhausted, "This key has encrypted as many messages as it may; open a new connection.")
}
