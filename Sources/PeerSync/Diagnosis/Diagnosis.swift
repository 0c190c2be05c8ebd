import PeerSyncModel
import PeerSyncStore

/// The judgement of facts: what keeps this machine from syncing with others, and what is well.
///
/// ```swift
/// for finding in Diagnosis.findings(of: facts) where finding.severity == .problem { print(finding.code) }
/// ```
public enum Diagnosis {
    /// The looks in the order in which people should mend what they find: a later one may only see what an earlier
    /// one has caused.
    static let checks: [@Sendable (DiagnosticFacts) -> [Finding]] = [
        { StoreChecks.disk($0.store) },
        { StoreChecks.key($0.store) },
        { StoreChecks.state($0.store) },
        { ClockChecks.findings($0) },
        { StoreChecks.records($0.store) },
        { NetworkChecks.listener($0) },
        { NetworkChecks.firewall($0) },
        { NetworkChecks.discovery($0) },
        { facts in facts.mailboxes.flatMap { MailboxChecks.findings($0) } },
        { PeerChecks.whetherAny($0) },
        { facts in facts.peers.flatMap { PeerChecks.findings($0, facts) } },
    ]

    /// Returns what the facts say, in the order in which it should be mended.
    public static func findings(of facts: DiagnosticFacts) -> [Finding] { checks.flatMap { $0(facts) } }
}
