/// One thing that somebody should know who wonders why two machines do not sync.
///
/// A finding is a code with values. The app has the words for it, and says what to do.
public struct Finding: Sendable, Equatable {
    /// How much a finding matters.
    public enum Severity: String, Sendable, CaseIterable, Comparable {
        /// All is well in this respect.
        case fine
        /// Sync works, but perhaps not as people expect.
        case warning
        /// Sync cannot work until somebody does something.
        case problem

        public static func < (one: Severity, other: Severity) -> Bool {
            allCases.firstIndex(of: one)! < allCases.firstIndex(of: other)!
        }
    }

    /// The kind of finding.
    public let code: Code
    /// How much it matters.
    public let severity: Severity
    /// The name here of the machine that the finding is about, if it is about one.
    public let peer: String?
    /// The address, path, program or zone that the finding is about.
    public let subject: String?
    /// A number whose unit ``Code`` says.
    public let number: Int64?
    /// The error of the engine behind the finding.
    public let error: PeerSyncError.Code?
    /// What the facts say as the reason, in a sentence.
    public let reason: String?

    /// Makes a finding.
    ///
    /// - Parameters:
    ///   - severity: how much it matters.
    ///   - code: the kind of finding.
    ///   - peer: see ``peer``.
    ///   - subject: see ``subject``.
    ///   - number: see ``number``.
    ///   - error: see ``error``.
    ///   - reason: see ``reason``.
    public init(
        _ severity: Severity, _ code: Code, peer: String? = nil, subject: String? = nil, number: Int64? = nil,
        error: PeerSyncError.Code? = nil, reason: String? = nil
    ) {
        self.code = code
        self.severity = severity
        self.peer = peer
        self.subject = subject
        self.number = number
        self.error = error
        self.reason = reason
    }
}
