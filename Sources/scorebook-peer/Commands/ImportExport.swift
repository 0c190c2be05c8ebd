import ArgumentParser
import Foundation
import Scorebook

struct Import: StoreCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take in a file: an export of BG Stats, or one of scorebook-peer.",
        discussion: """
            The file is merged: what is newer here stays as it is, and importing the same file again changes \
            nothing. A file with an error is refused whole, with the place of the error.
            """)

    @Argument(help: ArgumentHelp("The file, in JSON.", valueName: "file"))
    var file: String

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    func run(_ store: OpenStore) async throws {
        let report = try await ProgressLine.shared.during("importing \(file)") { [file] in
            try await store.scorebook.importFile(at: file)
        }
        try output.write(report, report.text)
    }
}

struct Export: StoreCommand {
    static let makesStore = false

    static let configuration = CommandConfiguration(
        abstract: "Write the whole scorebook to a file, as JSON.",
        discussion: """
            Importing the file into an empty scorebook gives the same records, with the same digest. A file name \
            of - writes to standard output.
            """)

    @Argument(help: ArgumentHelp("The file to write; one of that name is replaced.", valueName: "file"))
    var file: String

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    func run(_ store: OpenStore) async throws {
        if file == "-" {
            Terminal.write(bytes: try await store.scorebook.exportData())
            return
        }
        let count = try await ProgressLine.shared.during("exporting to \(file)") { [file] in
            try await store.scorebook.exportFile(at: file)
        }
        try output.write(["records": count], "exported \(count.counted("record")) to \(file)")
    }
}

extension ImportReport {
    /// What the import did, for people.
    fileprivate var text: String {
        var rows = [["", "NEW", "CHANGED", "UNCHANGED", "DELETED"]]
        for kind in RecordKind.allCases {
            guard let counts = types[kind.recordType] else { continue }
            rows.append(
                [kind.recordType]
                    + [counts.new, counts.changed, counts.unchanged, counts.deleted].map(\.grouped))
        }
        let changes = total.new + total.changed + total.deleted
        let verdict = changes == 0 ? "nothing new" : "\(changes.counted("record")) changed"
        return "imported a \(format.rawValue): \(verdict)\n" + aligned(rows)
    }
}
