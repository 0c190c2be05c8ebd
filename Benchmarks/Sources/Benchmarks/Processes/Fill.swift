import ArgumentParser
import Foundation

/// Makes a scorebook of made-up records, for a look at it by hand and for the alternatives.
struct Fill: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Make a scorebook of made-up records.")

    @Argument(help: "An existing directory; the scorebook is NAME.sqlite there.") var directory: String
    @Argument var name: String
    @Argument(help: "How many records it has.") var records: Int

    func run() async throws {
        _ = try await SourceStore(in: URL(fileURLWithPath: directory), name, records: records)
    }
}
