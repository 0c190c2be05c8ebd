import ArgumentParser
import Foundation
import Scorebook

struct Import: ZonedCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take in a file: an export of BG Stats, or one of scorebook-peer.",
        discussion: """
            The file is merged: what is newer here stays as it is, and importing the same file again changes \
            nothing. A file with an error is refused whole, with the place of the error. An export has the records \
            alone; with --pictures the files of pictures come in as well. The records go to the zone that --zone names; \
            without it to the one that the file names, or the zone in use.

            What was deleted here later than the file was written stays deleted. With --restore the records of the file \
            that are deleted here, or gone with a deleted record, are written as new, with what the file has of them; so \
            they come back, on every machine.
            """)

    @Argument(help: ArgumentHelp("The file, in JSON.", valueName: "file"))
    var file: String

    @Option(
        help: ArgumentHelp(
            "Take in the files of pictures from this directory, where `export --pictures` put them.",
            valueName: "dir"),
        completion: .directory)
    var pictures: String?

    @Flag(help: "Bring back what the file has and is deleted here.")
    var restore = false

    @OptionGroup var zoneOptions: ZoneOptions
    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    func run(_ store: OpenStore) async throws {
        let directory = pictures.map { URL(fileURLWithPath: $0, isDirectory: true) }
        if let directory { try store.scorebook.checkPictureDirectory(directory) }
        let report = try await ProgressLine.shared.measuring("importing \(file)") {
            [file, restore] progress in
            try await store.scorebook.importFile(at: file, restores: restore, progress: progress)
        }
        let copies: PictureCopies?
        if let directory {
            copies = try await ProgressLine.shared.during("importing pictures") {
                try await store.scorebook.importPictures(from: directory)
            }
        } else {
            copies = nil
        }
        try output.write(
            Figures(
                format: report.format, types: report.types, restored: report.restored,
                stillDeleted: report.stillDeleted, pictures: copies),
            report.text(restores: restore) + (copies.map { "\n\($0.text("imported"))" } ?? ""))
        try copies?.tellWhatIsWrong("neither here nor in that directory", "has other bytes")
    }

    private struct Figures: Encodable {
        let format: ImportReport.Format
        let types: [String: ImportReport.Counts]
        let restored: Int
        let stillDeleted: Int
        let pictures: PictureCopies?

        enum CodingKeys: String, CodingKey { case format, types, restored, stillDeleted, pictures }

        /// Writes null for missing values, so that every object has the same keys.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(format, forKey: .format)
            try container.encode(types, forKey: .types)
            try container.encode(restored, forKey: .restored)
            try container.encode(stillDeleted, forKey: .stillDeleted)
            try container.encode(pictures, forKey: .pictures)
        }
    }
}

struct Export: ZonedCommand {
    static let makesStore = false

    static let configuration = CommandConfiguration(
        abstract: "Write a scorebook to a file, as JSON: the zone that every store has, or another.",
        discussion: """
            Importing the file into an empty scorebook gives the same records, with the same digest. A file name \
            of - writes to standard output. The file has the records alone; with --pictures the files of pictures \
            are put beside it.
            """)

    @Argument(help: ArgumentHelp("The file to write.", valueName: "file"))
    var file: String

    @Option(
        help: ArgumentHelp(
            "Copy the files of all pictures to this directory; those that are there already stay.",
            valueName: "dir"),
        completion: .directory)
    var pictures: String?

    @Flag(help: "Replace a file that is there.")
    var force = false

    @OptionGroup var zoneOptions: ZoneOptions
    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    func run(_ store: OpenStore) async throws {
        let directory = pictures.map { URL(fileURLWithPath: $0, isDirectory: true) }
        let isStandardOutput = Terminal.isStandardOutput(file)
        if let directory { try store.scorebook.makePictureDirectory(directory, sparing: store.files) }
        let contents: ExportContents
        if isStandardOutput {
            let export = try await store.scorebook.exportDataAndContents()
            Terminal.write(bytes: export.data)
            contents = export.contents
        } else {
            contents = try await ProgressLine.shared.during("exporting to \(file)") { [file, force] in
                try await store.scorebook.exportFile(at: file, replaces: force, sparing: store.files)
            }
        }
        var copies: PictureCopies?
        if let directory {
            copies = try await ProgressLine.shared.during("copying pictures") {
                try await store.scorebook.exportPictures(contents, to: directory, sparing: store.files)
            }
        }
        if !isStandardOutput {
            try output.write(
                Figures(records: contents.records, pictures: copies),
                "exported \(contents.records.counted("record")) to \(file)"
                    + (copies.map { "\n\($0.text("exported"))" } ?? ""))
        }
        try copies?.tellWhatIsWrong("not on this machine", "is damaged")
    }

    private struct Figures: Encodable {
        let records: Int
        let pictures: PictureCopies?

        enum CodingKeys: String, CodingKey { case records, pictures }

        /// Writes null for missing values, so that every object has the same keys.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(records, forKey: .records)
            try container.encode(pictures, forKey: .pictures)
        }
    }
}

extension ImportReport {
    /// Describes the import for people.
    fileprivate func text(restores: Bool) -> String {
        var rows = [["", "NEW", "CHANGED", "UNCHANGED", "DELETED"]]
        for kind in RecordKind.allCases {
            guard let counts = types[kind.recordType] else { continue }
            rows.append(
                [kind == .match ? "matches" : kind.noun + "s"]
                    + [counts.new, counts.changed, counts.unchanged, counts.deleted].map(\.grouped))
        }
        let changes = total.new + total.changed + total.deleted
        let verdict = changes == 0 ? "nothing new" : "\(changes.counted("record")) changed"
        let back = restored == 0 ? "" : ", \(restored.grouped) came back"
        let left =
            stillDeleted == 0
            ? ""
            : "\n\(stillDeleted.counted("record")) of the file stayed deleted here; "
                + (restores ? "the file does not have what they need" : "--restore brings them back")
        return "imported a \(format.rawValue): \(verdict)\(back)\n" + aligned(rows) + left
    }
}
