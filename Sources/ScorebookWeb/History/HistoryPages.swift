import Foundation
import Hummingbird
import PeerSync
import Scorebook

/// What other machines changed lately, by whom, and what lost; each value comes back with one click.
extension Pages {
    /// The most changes on the page.
    private static let maximumShown = 200
    /// How long before now the page begins, in milliseconds: two days, so that it has all of yesterday.
    private static let shownTime: Int64 = 2 * 86_400_000

    func addHistory(to router: Router<PageContext>) {
        router.get("history") { _, context in try await history(context) }
        router.post("history") { request, context in
            let form = try await request.decode(as: ValueForm.self, context: context)
            return try await restore(form)
        }
        router.post("machines/alarms") { request, context in
            let form = try await request.decode(as: DecisionForm.self, context: context)
            try await decide(form)
            return redirect("/machines")
        }
    }

    // MARK: What was overwritten

    private func history(_ context: PageContext) async throws -> Response {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let entries = try await scorebook.history(since: now - Self.shownTime, limit: Self.maximumShown)
        return try render(
            "history", title: "What changed lately", section: "/files",
            [
                "entries": entries.map { Self.line($0, context.reader) }, "isEmpty": entries.isEmpty,
                "isFull": entries.count == Self.maximumShown,
            ], context)
    }

    private static func line(_ entry: HistoryListing, _ reader: Reader) -> [String: Any] {
        [
            "id": "\(entry.recordName)", "title": entry.title, "field": entry.field.shown,
            "isDeletion": entry.field == nil, "isLate": !entry.wasShown,
            "lost": entry.lost.text ?? "nothing", "won": entry.won.text ?? "nothing",
            "lostBy": entry.lost.machine.words, "lostAt": reader.moment(entry.lost.at),
            "wonBy": entry.won.machine.words, "wonAt": reader.moment(entry.won.at),
            "moment": "\(entry.lostMoment)",
        ]
    }

    private struct ValueForm: Decodable {
        /// The record name.
        let record: String
        /// Nil for a record that was deleted.
        let field: String?
        /// The time of the value, in milliseconds since 1970.
        let moment: Int64
    }

    private func restore(_ form: ValueForm) async throws -> Response {
        guard let name = try? RecordName(form.record) else {
            throw PageError(.notFound, "There is no such record.")
        }
        let (scorebook, run) = command("record restore")
        try await scorebook.restore(name, at: form.moment, field: form.field)
        return redirect(Notice(.restored, run: run, path: "/history").on("/history"))
    }

    // MARK: What waits for somebody

    private struct DecisionForm: Decodable {
        /// The id of the alarm.
        let alarm: String
        /// 1 or 0.
        let allow: String
    }

    /// The changes that wait for somebody, for the page of the machines.
    func alarms(_ status: StoreStatus, _ reader: Reader) -> [[String: Any]] {
        status.alarms.map { alarm in
            ["id": alarm.id, "text": Self.sentence(alarm, reader)] as [String: Any]
        }
    }

    private static func sentence(_ alarm: FuseAlarm, _ reader: Reader) -> String {
        let parts = [
            alarm.deletedCount > 0 ? "delete \(records(alarm.deletedCount, reader))" : nil,
            alarm.overwrittenCount > 0 ? "overwrite \(records(alarm.overwrittenCount, reader))" : nil,
        ].compactMap(\.self)
        let what = parts.isEmpty ? "change nothing any more" : parts.joined(separator: " and ")
        return switch alarm.source {
        case .peer(let name):
            "\(name) would \(what). This is not shown until somebody decides."
        case .programs:
            "A program on this machine wants to \(what) on the other machines. They do not get it until somebody decides."
        }
    }

    private func decide(_ form: DecisionForm) async throws {
        guard let alarm = try await status().alarms.first(where: { $0.id == form.alarm }) else {
            throw PageError(
                .conflict, "What waits has changed meanwhile, or somebody else has decided. Look at it again."
            )
        }
        let records = scorebook.records
        let isAllowed = form.allow == "1"
        try await records.write { db in
            if isAllowed { try records.fuse.allow(db, alarm) } else { try records.fuse.refuse(db, alarm) }
        }
    }
}
