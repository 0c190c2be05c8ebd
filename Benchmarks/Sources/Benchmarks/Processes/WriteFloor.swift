import ArgumentParser
import CFloor
import Foundation

/// Writes a store as C does, in a process of its own.
struct WriteFloor: ParsableCommand {
    static let configuration = CommandConfiguration(shouldDisplay: false)

    struct Outcome: Codable {
        let records: Int
        let seconds: Double
    }

    @Argument var source: String
    @Argument var target: String
    @Argument var contents: Contents

    enum Contents: String, ExpressibleByArgument {
        /// All tables as a store has them, and a row of metadata for each record.
        case full
        /// The same without checks, foreign keys and indexes.
        case bare
        /// The tables of the records alone, as a store has them.
        case rowsOnly = "rows-only"

        fileprivate var floor: FloorContents {
            switch self {
            case .full: FLOOR_FULL
            case .bare: FLOOR_BARE
            case .rowsOnly: FLOOR_ROWS_ONLY
            }
        }
    }

    func run() throws {
        var result = FloorResult()
        var message: UnsafeMutablePointer<CChar>?
        let code = floor_write(source, target, contents.floor, &result, &message)
        defer { free(message) }
        guard code == 0 else {
            throw ValidationError(
                "the floor could not be written: \(message.map { String(cString: $0) } ?? "")")
        }
        try WorkerProcess.respond(Outcome(records: Int(result.records), seconds: result.seconds))
    }
}
