import ArgumentParser
import Foundation
import PeerSync

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Say why this machine does not sync with another one, and what helps.",
        discussion: """
            Looks at this machine's scorebook, key, clock, disk and network, and calls the other machines: the one that \
            you name, or all that are paired. It changes nothing here, exchanges no records, and needs no rights of an \
            administrator; as root it also reads the rules of the firewall.

            The exit code is 0 when nothing keeps this machine from syncing, otherwise that of the first problem.
            """)

    @Argument(
        help: ArgumentHelp(
            "The name of a paired machine, or an address; nothing for all machines.",
            valueName: "name|address"))
    var machine: String?

    @Option(help: "The port on which this machine listens.")
    var port = SyncEngine.defaultPort

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...65_535).contains(port) else { throw ValidationError("a port is a number from 1 to 65535") }
    }

    func run() async throws {
        let examination = Examination(directory: try storeOptions.directory(), port: port)
        let facts = try await ProgressLine.shared.during("looking") { [machine] in
            try await examination.facts(about: machine)
        }
        let findings = Diagnosis.findings(of: facts)
        if output.json {
            try Terminal.write(json: Figures(findings: findings.map(FindingFigures.init)))
        } else {
            Terminal.write(aligned(findings.map { [$0.severity.word, $0.text] }))
        }
        let problems = findings.filter { $0.severity == .problem }
        guard let first = problems.first else { return }
        throw Failure(
            first.exitCode,
            problems.count == 1
                ? "this keeps the machine from syncing as it should"
                : "\(problems.count) problems keep the machine from syncing as it should; begin with the first one"
        )
    }

    private struct Figures: Encodable {
        let findings: [FindingFigures]
    }
}

/// A finding, for programs.
private struct FindingFigures: Encodable {
    let finding: Finding

    init(_ finding: Finding) {
        self.finding = finding
    }

    enum CodingKeys: String, CodingKey {
        case severity, code, peer, subject, number, error, text
    }

    /// Writes null for missing values, so that every object has the same keys.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(finding.severity.rawValue, forKey: .severity)
        try container.encode(finding.code.rawValue, forKey: .code)
        try container.encode(finding.peer, forKey: .peer)
        try container.encode(finding.subject, forKey: .subject)
        try container.encode(finding.number, forKey: .number)
        try container.encode(finding.error?.description, forKey: .error)
        try container.encode(finding.text, forKey: .text)
    }
}
