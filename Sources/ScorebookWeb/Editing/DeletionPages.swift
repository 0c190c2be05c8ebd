import Foundation
import Hummingbird
import PeerSync
import Scorebook

/// Deleting a record, after a page that says what goes along; and the deleted records, which can be brought back.
extension Pages {
    /// The number of deleted records on one page.
    private static let deletedPageSize = 50

    func addDeletions(to router: Router<PageContext>) {
        for (kind, folder) in [(RecordKind.match, "matches"), (.game, "games"), (.person, "people")] {
            router.get("\(folder)/:id/delete") { _, context in
                try await deletionPage(kind, record(kind, context), context)
            }
            router.post("\(folder)/:id/delete") { _, context in
                let name = try record(kind, context)
                let (scorebook, run) = command("\(kind.noun) delete")
                try await scorebook.delete(kind, "\(name)")
                return redirect(Notice(.deleted, run: run, path: Self.path(name)).on("/\(folder)"))
            }
        }
        router.get("deleted") { request, context in try await deletedPage(request, context) }
        router.post("deleted") { request, context in
            let form = try await request.decode(as: RestoreForm.self, context: context)
            return try await restore(form)
        }
    }

    // MARK: Deleting

    private func deletionPage(_ kind: RecordKind, _ name: RecordName, _ context: PageContext) async throws
        -> Response
    {
        // A merged record leads to the one that it became.
        let name = try await scorebook.find(kind, "\(name)")
        let summary = try await scorebook.deletionSummary(name)
        return try render(
            "delete", title: "Delete \(summary.title)?", section: Self.section(kind),
            [
                "path": Self.path(name), "companions": Self.sentence(summary.companions).shown,
                "isPerson": kind == .person,
                "until": context.reader.day(milliseconds: summary.restorableUntil),
            ], context)
    }

    /// The page in the navigation that lists the records of a kind.
    private static func section(_ kind: RecordKind) -> String {
        kind == .match ? "/matches" : kind == .game ? "/games" : "/people"
    }

    /// As in “a, b and c”; nil for nothing.
    static func sentence(_ parts: [String]) -> String? {
        guard let last = parts.last else { return nil }
        return parts.count == 1 ? last : parts.dropLast().joined(separator: ", ") + " and " + last
    }

    // MARK: Deleted things

    private func deletedPage(_ request: Request, _ context: PageContext) async throws -> Response {
        let page = Self.pageNumber(request)
        let all = try await scorebook.deletedRecords()
        let shown = all.dropFirst((page - 1) * Self.deletedPageSize).prefix(Self.deletedPageSize)
        return try render(
            "deleted", title: "Deleted things", section: "/files",
            [
                "records": shown.map { Self.line($0, context.reader) }, "isEmpty": shown.isEmpty,
                "later": page > 1 ? "/deleted?page=\(page - 1)" : false as Any,
                "earlier": all.count > page * Self.deletedPageSize
                    ? "/deleted?page=\(page + 1)" : false as Any,
            ], context)
    }

    private static func line(_ record: DeletedListing, _ reader: Reader) -> [String: Any] {
        let kind = RecordKind(rawValue: record.recordName.recordType)
        return [
            "id": "\(record.recordName)", "title": displayName(record.title),
            "noun": kind?.noun ?? record.recordName.recordType, "date": reader.moment(record.deletedAt),
            "machine": record.machine.words, "until": reader.day(record.restorableUntil),
            "companions": record.companions == 0
                ? false as Any
                : record.companions == 1
                    ? "1 thing went along"
                    : "\(reader.number(record.companions)) things went along",
        ]
    }

    private struct RestoreForm: Decodable {
        /// The record name.
        let record: String
    }

    private func restore(_ form: RestoreForm) async throws -> Response {
        guard let name = try? RecordName(form.record) else {
            throw PageError(.notFound, "There is no such record.")
        }
        let (scorebook, run) = command("record restore")
        try await scorebook.restore(name)
        return redirect(Notice(.restored, run: run, path: "/deleted").on("/deleted"))
    }
}
