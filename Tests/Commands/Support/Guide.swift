import Foundation
import TestSupport

/// What a guide tells its readers to type, and what it shows that they get.
struct Guide {
    /// One command.
    struct Step {
        /// The line of the guide.
        let line: Int
        /// The machine before the prompt, if there are several.
        let machine: String?
        let command: String
        /// What is typed while it runs.
        fileprivate(set) var typed: [String] = []
        /// What the guide shows; nil if it shows only the command.
        fileprivate(set) var shown: [String]?
    }

    let steps: [Step]

    /// Reads the blocks `sh` and `console` of a file.
    init(_ path: String) throws {
        let text = try String(
            contentsOf: Repository.root.appendingPathComponent(path), encoding: .utf8)
        var steps: [Step] = []
        var language: Substring?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("```") {
                language = language == nil ? line.dropFirst(3) : nil
            } else if language == "sh", !line.isEmpty {
                steps.append(Step(line: index + 1, machine: nil, command: String(line)))
            } else if language == "console" {
                if let prompt = line.wholeMatch(of: /([a-z]*)\$ (.+)/) {
                    steps.append(
                        Step(
                            line: index + 1, machine: prompt.1.isEmpty ? nil : String(prompt.1),
                            command: String(prompt.2), shown: []))
                } else if let typed = line.wholeMatch(of: /round [0-9]+> (.+)/), !steps.isEmpty {
                    steps[steps.count - 1].typed.append(String(typed.1))
                } else if !line.isEmpty, !steps.isEmpty {
                    steps[steps.count - 1].shown?.append(String(line))
                }
            }
        }
        self.steps = steps
    }
}

extension Guide.Step {
    /// Whether an output is what the guide shows. Dates, codes, addresses, ids and times taken differ, and with them how wide a
    /// column is; `…` stands for any lines, and empty lines do not count.
    func isShown(_ output: String) throws -> Bool {
        guard let shown else { return true }
        let form = try shown.map { $0 == "…" ? "(?:.*\\n)*?" : try Self.form(Self.narrow($0)) + "\\n" }
            .joined()
        let lines = output.split(separator: "\n").map { Self.narrow($0) + "\n" }.joined()
        return try Regex(form).wholeMatch(in: lines) != nil
    }

    private static func narrow(_ line: some StringProtocol) -> String {
        String(line).replacing(/[ ]{2,}/, with: "  ")
    }

    /// What differs each time, as patterns that fit both what a guide shows and what is there.
    private static let varying = [
        "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[0-9]{4}-[0-9]{2}-[0-9]{2}",
        "[0-9]{2}:[0-9]{2}", "[0-9]+(?:\\.[0-9]+){3}:[0-9]+", "[0-9]{3}-[0-9]{3}", "[0-9,]+ bytes, [0-9.]+ s",
        "\\b[0-9a-f]{6}\\b",
    ]

    /// Returns a pattern for a line.
    private static func form(_ line: String) throws -> String {
        let places = line.matches(of: try Regex(varying.map { "(?:\($0))" }.joined(separator: "|"))).map(
            \.range)
        var form = ""
        var end = line.startIndex
        for place in places {
            let found = String(line[place])
            let pattern = try varying.first { try Regex($0).wholeMatch(in: found) != nil }
            form +=
                NSRegularExpression.escapedPattern(for: String(line[end..<place.lowerBound]))
                + (pattern ?? "")
            end = place.upperBound
        }
        return form + NSRegularExpression.escapedPattern(for: String(line[end...]))
    }
}
