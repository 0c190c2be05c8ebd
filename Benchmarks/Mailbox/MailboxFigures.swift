import ArgumentParser
import Foundation

/// Counts what a mailbox costs a household: requests and bytes, with the program's own passes over a storage in memory that counts.
///
/// Nothing here is a time, so a build for debugging gives the same figures.
@main
struct MailboxFigures: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mailbox-figures",
        abstract: "Counts the requests and bytes of mailboxes, and prints them as JSON.")

    @Flag(help: "Only see whether everything runs.")
    var tiny = false

    @Option(help: "Write a scorebook with the records of a household to this file, for others to copy.")
    var database: String?

    @Option(help: "Count only what has this in its name.")
    var only: String?

    func run() async throws {
        let sizes = tiny ? Sizes.tiny : .full
        if let database { try await MeasuredMachine.fill(database, records: sizes.household) }
        for scenario in Scenario.all where only.map(scenario.name.contains) ?? true {
            for figure in try await scenario.run(sizes) {
                FileHandle.standardOutput.write(try JSONEncoder().encode(figure) + Data("\n".utf8))
            }
        }
    }
}

/// How much of everything there is.
struct Sizes: Sendable {
    /// The records of a household.
    let household: Int
    /// Those of a newcomer's first sync.
    let newcomer: Int
    let machines: [Int]
    /// The records of households of many machines.
    let crowded: Int
    let changes: Int

    static let full = Sizes(
        household: 3_000, newcomer: 100_000, machines: [2, 3, 5, 10, 20, 50], crowded: 500, changes: 10_000)
    static let tiny = Sizes(household: 200, newcomer: 300, machines: [2, 4], crowded: 50, changes: 40)
}

/// One line of the table.
struct Figure: Encodable {
    let what: String
    var puts = 0
    var gets = 0
    var lists = 0
    var deletes = 0
    var bytesPut = 0
    var bytesGot = 0
    /// What lies there afterwards.
    var stored = 0
    var objects = 0
    /// The most that lay there at any time, if that was looked at.
    var most: Int?
    /// The file of one machine's database, if it was looked at.
    var database: Int?
}
