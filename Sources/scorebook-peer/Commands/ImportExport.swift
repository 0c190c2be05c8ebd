import ArgumentParser
import Foundation
import PeerSync
import Scorebook

struct Import: ZonedCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Take in a file: an export of scorebook-peer or BG Stats, or lists of BoardGameGeek.",
        discussion: """
            The file is merged: what is newer here stays as it is, and importing the same file again changes \
            nothing. A file with an error is refused whole, with the place of the error. An export has the records \
            alone; with --pictures the files of pictures come in as well. The records go to the zone that --zone names; \
            without it to the one that the file names, or the zone in use.

            What was deleted here later than the file was written stays deleted. With --restore the records of the file \
            that are deleted here, or gone with a deleted record, are written as new, with what the file has of them; so \
            they come back, on every machine.

            With --dry-run nothing changes, and the program says what would.

            A game or person of BG Stats or BoardGameGeek that is here already under the same name stays one; a terminal asks, \
            and --apart makes two of them.

            BoardGameGeek gives a collection and plays as XML, and a collection as CSV. What somebody has changed here stays; what BoardGameGeek has in another way than before \
            comes in. Games that are only wished for are left out.
            """)

    @Argument(help: ArgumentHelp("The file.", valueName: "file"))
    var file: String

    @Option(
        help: ArgumentHelp(
            "Take in the files of pictures from this directory, where `export --pictures` put them.",
            valueName: "dir"),
        completion: .directory)
    var pictures: String?

    @Flag(help: "Bring back what the file has and is deleted here.")
    var restore = false

    @Flag(help: "Keep games and persons of the file apart from those that are here with the same name.")
    var apart = false

    @Flag(help: "Say what would change, and change nothing.")
    var dryRun = false

    @OptionGroup var zoneOptions: ZoneOptions
    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !dryRun || pictures == nil else {
            throw ValidationError("--dry-run looks at records alone; leave --pictures out.")
        }
    }

    func run() async throws {
        let directory = try storeOptions.directory()
        let database = directory.appendingPathComponent("scorebook.sqlite").path
        guard dryRun, !FileManager.default.fileExists(atPath: database) else { return try await runOnStore() }
        // A look at what would change begins no scorebook.
        var scorebook = try ScorebookSnapshot.empty(replica: Identity.generate().replicaID)
        if let zone { scorebook = scorebook.limited(to: try await scorebook.records.zones.find(named: zone)) }
        let report = try await report(scorebook, apart: apart)
        Terminal.writeError("note: there is no scorebook in \(Display.printable(directory.path)) yet")
        try write(report, nil)
    }

    func run(_ store: OpenStore) async throws {
        let directory = pictures.map { URL(fileURLWithPath: $0, isDirectory: true) }
        if let directory { try store.scorebook.checkPictureDirectory(directory) }
        let report = try await report(store.scorebook, apart: staysApart(store))
        let copies: PictureCopies?
        if let directory {
            copies = try await ProgressLine.shared.during("importing pictures") {
                try await store.scorebook.importPictures(from: directory)
            }
        } else {
            copies = nil
        }
        try write(report, copies)
        try copies?.tellWhatIsWrong("neither here nor in that directory", "has other bytes")
    }

    private func report(_ scorebook: ScorebookStore, apart: Bool) async throws -> ImportReport {
        try await ProgressLine.shared.measuring("importing \(file)") { [file, restore, dryRun] progress in
            try await scorebook.importFile(
                at: file, restores: restore, apart: apart, isRehearsal: dryRun, progress: progress)
        }
    }

    private func write(_ report: ImportReport, _ copies: PictureCopies?) throws {
        try output.write(
            Figures(
                format: report.format, types: report.types, restored: report.restored,
                stillDeleted: report.stillDeleted, joined: report.joined, leftOut: report.leftOut,
                pictures: copies),
            report.text(restores: restore, isRehearsal: dryRun)
                + (copies.map { "\n\($0.text("imported"))" } ?? ""))
    }

    /// Asks on a terminal whether games and persons of the file are those that are here with the same name.
    private func staysApart(_ store: OpenStore) async throws -> Bool {
        guard !apart, !dryRun, Terminal.isInputATerminal else { return apart }
        // Nothing has a namesake in an empty scorebook, and the look takes as long as the import.
        guard try await store.scorebook.hasNames() else { return false }
        let report = try await ProgressLine.shared.measuring("looking at \(file)") { [file] progress in
            try await store.scorebook.importFile(at: file, isRehearsal: true, progress: progress)
        }
        let names = report.joinedNames
        guard !names.isEmpty else { return false }
        let list = names.prefix(5).map { Display.printable($0) }.joined(separator: ", ")
        let more = names.count > 5 ? " and \((names.count - 5).grouped) more" : ""
        return await !Terminal.isConfirmed(
            "\(list)\(more): here already under \(names.count == 1 ? "this name" : "these names"). Are they the same?"
        )
    }

    private struct Figures: Encodable {
        let format: ImportReport.Format
        let types: [String: ImportReport.Counts]
        let restored: Int
        let stillDeleted: Int
        let joined: Int
        let leftOut: Int
        @OrNull var pictures: PictureCopies?
    }
}

struct Export: ZonedCommand {
    static let makesStore = false

    static let configuration = CommandConfiguration(
        commandName: "export",
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

    @Flag(help: "Replace a file that is there, without asking.")
    var force = false

    @OptionGroup var zoneOptions: ZoneOptions
    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !file.lowercased().hasSuffix(".csv") else {
            throw ValidationError("an export is JSON; `match list --csv` writes a table")
        }
    }

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
            let replaces = try await mayReplace(store.scorebook.time)
            await StopSignals.shared.trap(.failure(Failure(CancellationError())))
            contents = try await ProgressLine.shared.measuring("exporting to \(file)") { [file] progress in
                try await store.scorebook.exportFile(
                    at: file, replaces: replaces, sparing: store.files, progress: progress)
            }
        }
        var copies: PictureCopies?
        if let directory {
            copies = try await ProgressLine.shared.during("copying pictures") {
                try await store.scorebook.exportPictures(contents, to: directory, sparing: store.files)
            }
        }
        let leftOut = try await zonesLeftOut(store)
        let remark =
            leftOut.isEmpty
            ? nil : "not in it: the \(Display.zones(leftOut)); --zone writes one to a file of its own"
        if !isStandardOutput {
            try output.write(
                Figures(records: contents.records, pictures: copies, zonesLeftOut: leftOut),
                ([
                    "exported \(contents.records.counted("record")) to \(file)", copies?.text("exported"),
                    remark,
                ]).compactMap(\.self).joined(separator: "\n"))
        } else if let remark {
            Terminal.writeError(remark)
        }
        try copies?.tellWhatIsWrong("not on this machine", "is damaged")
    }

    /// The zones that have records and are not in the file, unless somebody has said which one to write.
    private func zonesLeftOut(_ store: OpenStore) async throws -> [String] {
        guard zoneOptions.zone == nil else { return [] }
        return try await store.scorebook.records.zones.all()
            .filter { !$0.isDefault && $0.digest.count > 0 }.map(\.name)
    }

    /// Asks on a terminal before a file is replaced. If nobody can answer, the export refuses that with a sentence of its own.
    private func mayReplace(_ time: LocalTime) async throws -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(
            atPath: URL(fileURLWithPath: file).resolvingSymlinksInPath().path)
        guard !force, let attributes, attributes[.type] as? FileAttributeType == .typeRegular else {
            return force
        }
        let size = (attributes[.size] as? Int ?? 0).counted("byte")
        let date = (attributes[.modificationDate] as? Date).flatMap { date in
            ISO8601.text(milliseconds: Int64(date.timeIntervalSince1970 * 1000), fraction: .ifNeeded)
        }
        let written = date.map { ", written \(time.text($0))" } ?? ""
        let question = "Replace \(Display.printable(file)) (\(size)\(written))?"
        guard let answer = await Terminal.confirm(question) else { return false }
        guard answer else { throw Failure(.temporaryFailure, "nothing was exported") }
        return true
    }

    private struct Figures: Encodable {
        let records: Int
        @OrNull var pictures: PictureCopies?
        let zonesLeftOut: [String]
    }
}

extension ImportReport {
    /// Describes the import for people.
    ///
    /// - Parameter isRehearsal: whether nothing has changed, and this is what would.
    fileprivate func text(restores: Bool, isRehearsal: Bool) -> String {
        var rows = [["", "NEW", "CHANGED", "UNCHANGED", "DELETED"]]
        for kind in RecordKind.allCases {
            guard let counts = types[kind.recordType] else { continue }
            rows.append(
                [kind == .match ? "matches" : kind.noun + "s"]
                    + [counts.new, counts.changed, counts.unchanged, counts.deleted].map(\.grouped))
        }
        let changes = total.new + total.changed + total.deleted
        let back =
            restored == 0 ? "" : ", \(restored.grouped) \(isRehearsal ? "would come back" : "came back")"
        let count = changes.counted("record")
        let table =
            (isRehearsal
                ? "\(format.title) would change \(changes == 0 ? "nothing" : count)"
                : "imported \(format.title): \(changes == 0 ? "nothing new" : "\(count) changed")")
            + "\(back)\n" + aligned(rows)
        return ([table] + remarks(restores: restores, isRehearsal: isRehearsal)).joined(separator: "\n")
    }

    private func remarks(restores: Bool, isRehearsal: Bool) -> [String] {
        var remarks: [String] = []
        if joined > 0 {
            let names = joinedNames.prefix(5).map { Display.printable($0) }.joined(separator: ", ")
            let more = joinedNames.count > 5 ? ", …" : ""
            remarks.append(
                "\(joined.counted("game or person", plural: "games and persons")) of the file "
                    + (joined == 1 ? "was here already" : "were here already")
                    + ", and \(isRehearsal ? "would stay" : "stayed") one (\(names)\(more)); --apart makes two"
            )
        }
        if leftOut > 0 {
            remarks.append(
                "left out \(leftOut.counted("entry", plural: "entries")): games that nobody has or has played, and expansions "
                    + "that were not played")
        }
        if stillDeleted > 0 {
            remarks.append(
                "\(stillDeleted.counted("record")) of the file \(isRehearsal ? "would stay" : "stayed") deleted here; "
                    + (restores ? "the file does not have what they need" : "--restore brings them back"))
        }
        return remarks
    }
}

extension ImportReport.Format {
    /// The name with its article.
    fileprivate var title: String {
        switch self {
        case .bgStats, .scorebook, .bggCollection: "a \(rawValue)"
        case .bggPlays: rawValue
        }
    }
}
