import ArgumentParser
import Foundation

/// Draws how figures grow with the size of the scorebook.
struct DrawGrowth: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Draw how cost grows with the size of the scorebook, from the figures of --json.")

    @Argument(help: "What `--json` has written.") var json: String
    @Argument(help: "The SVG file to write.") var svg: String

    func run() throws {
        guard let data = FileManager.default.contents(atPath: json) else {
            throw ValidationError("\(json) cannot be read")
        }
        guard let report = try? JSONDecoder().decode(Report.self, from: data) else {
            throw ValidationError("\(json) is not what `--json` writes")
        }
        let lines = report.growth
        guard lines.contains(where: { $0.points.count > 1 }) else {
            throw ValidationError(
                "\(json) has no figures of several sizes; run `stores` with several --sizes")
        }
        try GrowthPlot(lines: lines).svg.write(toFile: svg, atomically: true, encoding: .utf8)
    }
}
