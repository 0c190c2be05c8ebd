import Foundation

/// What `doctor --json` prints.
struct DoctorFigures: Decodable {
    struct Finding: Decodable {
        let severity: String
        let code: String
        let peer: String?
        let subject: String?
        let number: Int?
        let text: String
    }

    let findings: [Finding]
}

/// What a doctor said, and how it ended.
struct Consultation {
    let exitCode: Int32
    let findings: [DoctorFigures.Finding]

    /// The codes of the problems, in their order.
    var problems: [String] { findings.filter { $0.severity == "problem" }.map(\.code) }
    var codes: [String] { findings.map(\.code) }

    func finding(_ code: String) -> DoctorFigures.Finding? { findings.first { $0.code == code } }
}

extension Machine {
    /// Asks the doctor.
    ///
    /// - Parameter port: where this machine would listen; by default a port on which nobody listens.
    func doctor(_ machine: String? = nil, port: Int = 1, with disk: SmallDisk? = nil) async throws
        -> Consultation
    {
        let arguments = ["doctor", "--json", "--port", "\(port)"] + [machine].compactMap(\.self)
        let outcome = try await start(arguments, with: disk).outcome()
        let figures = try JSONDecoder().decode(DoctorFigures.self, from: Data(outcome.output.utf8))
        return Consultation(exitCode: outcome.exitCode, findings: figures.findings)
    }
}
