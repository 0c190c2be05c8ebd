import Foundation
import Hummingbird
import PeerSync
import Scorebook

/// A file comes in: first a page says what would change, then somebody imports it.
extension Pages {
    func addImports(to router: Router<PageContext>) {
        router.post("files/import") { request, context in
            do {
                let id = try await uploads.receive(request) { form in
                    guard let file = form.file("file") else {
                        throw PageError(.unprocessableContent, "Choose a file first.")
                    }
                    return try imports.add(file)
                }
                return redirect("/files/import/\(id)")
            } catch let error as PageError {
                return try await files(context, slip: error)
            }
        }
        router.get("files/import/:id") { _, context in try await rehearse(context) }
        router.post("files/import/:id") { request, context in
            let form = try await request.decode(as: ImportForm.self, context: context)
            let (id, file) = try waitingImport(context)
            let (scorebook, run) = command("import")
            let report = try await scorebook.importFile(at: file.path, restores: form.restores != nil)
            imports.remove(id)
            let changes = Self.changes(report)
            let notice =
                changes + report.restored == 0
                ? Notice(.unchanged) : Notice(.imported, run: run, path: "/files", count: changes)
            return redirect(notice.on("/files"))
        }
    }

    private struct ImportForm: Decodable {
        /// Whether what was deleted here comes back.
        let restores: String?
    }

    private func waitingImport(_ context: PageContext) throws -> (UUID, WaitingImports.File) {
        guard let id = context.parameters.get("id").flatMap({ UUID(uuidString: $0) }),
            let file = imports.find(id)
        else { throw PageError(.notFound, "This file does not wait any more.", hint: "Choose it again.") }
        return (id, file)
    }

    /// Shows what an import would change.
    private func rehearse(_ context: PageContext) async throws -> Response {
        let (id, file) = try waitingImport(context)
        let report: ImportReport
        do {
            report = try await scorebook.importFile(at: file.path, isRehearsal: true)
        } catch let error as ScorebookError where error.code == .invalidFile || error.code == .unreadableFile
        {
            imports.remove(id)
            // The message begins with the path, which says nothing to whoever chose the file.
            let message = error.message.replacing(file.path, with: "“\(file.name)”")
            return try await files(
                context, slip: PageError(.unprocessableContent, PageError.sentence(message)))
        }
        let reader = context.reader
        let changes = Self.changes(report)
        let format = report.format.rawValue
        return try render(
            "import", title: "What would change?", section: "/files",
            [
                "path": "/files/import/\(id)", "file": file.name,
                "format": format.prefix(1).uppercased() + format.dropFirst(),
                "changes": changes == 0 ? false as Any : Self.records(changes, reader),
                "mayImport": changes > 0 || report.stillDeleted > 0,
                "types": RecordKind.allCases.compactMap { kind in
                    report.types[kind.recordType].map { counts in
                        [
                            "name": Self.plural(kind), "new": reader.number(counts.new),
                            "changed": reader.number(counts.changed),
                            "deleted": reader.number(counts.deleted),
                            "unchanged": reader.number(counts.unchanged),
                        ]
                    }
                },
                "hasChanged": report.total.changed > 0, "hasDeleted": report.total.deleted > 0,
                "hasUnchanged": report.total.unchanged > 0,
                "remarks": Self.remarks(report, reader), "hasRemarks": !Self.remarks(report, reader).isEmpty,
                "stillDeleted": report.stillDeleted > 0
                    ? Self.records(report.stillDeleted, reader) : false as Any,
            ], context)
    }

    private static func changes(_ report: ImportReport) -> Int {
        report.total.new + report.total.changed + report.total.deleted
    }

    static func records(_ count: Int, _ reader: Reader) -> String {
        count == 1 ? "1 record" : "\(reader.number(count)) records"
    }

    private static func plural(_ kind: RecordKind) -> String {
        let noun = kind == .match ? "matches" : kind == .person ? "people" : kind.noun + "s"
        return noun.prefix(1).uppercased() + noun.dropFirst()
    }

    private static func remarks(_ report: ImportReport, _ reader: Reader) -> [String] {
        var remarks: [String] = []
        if report.restored > 0 { remarks.append("\(records(report.restored, reader)) would come back.") }
        if report.joined > 0 {
            remarks.append(
                "Games and people of the file that are here already stay one: \(reader.number(report.joined))."
            )
        }
        if report.leftOut > 0 {
            remarks.append(
                "Left out are games that nobody has or has played, and expansions that were not played: "
                    + "\(reader.number(report.leftOut)).")
        }
        if report.stillDeleted > 0 {
            remarks.append("Deleted here later, and so left out: \(records(report.stillDeleted, reader)).")
        }
        return remarks
    }
}
