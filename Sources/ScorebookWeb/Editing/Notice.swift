import Foundation
import Hummingbird
import PeerSync
import Scorebook

/// The line above a page that says what the form before it did, and takes it back.
///
/// It comes in the query of the page, so that it is there without JavaScript, and after the page was loaded again.
struct Notice: Sendable {
    enum Kind: String, Sendable {
        case saved, unchanged, finished, deleted, pictureDeleted, restored, imported, back, overtaken

        fileprivate var text: String {
            switch self {
            case .saved: "Saved."
            case .unchanged: "Nothing was changed."
            case .finished: "Finished."
            case .deleted: "Deleted."
            case .pictureDeleted: "The picture is deleted."
            case .restored: "Restored."
            case .imported: "Imported."
            case .back: "Taken back."
            case .overtaken: "Nothing was taken back: somebody has changed it since."
            }
        }
    }

    let kind: Kind
    /// The writes of the form, see ``Pages/command(_:)``; nil if they cannot be taken back.
    var run: UUID?
    /// Where somebody goes who takes it back.
    var path: String?
    /// How many records stayed as they were, because somebody has changed them since.
    var kept = 0
    /// How many records an import changed; 0 if nobody says it.
    var count = 0

    init(_ kind: Kind, run: UUID? = nil, path: String? = nil, kept: Int = 0, count: Int = 0) {
        self.kind = kind
        self.run = run
        self.path = path
        self.kept = kept
        self.count = count
    }

    /// Reads the notice of a page; nil if it has none.
    init?(_ request: Request) {
        guard let kind = request.query("done").flatMap(Kind.init) else { return nil }
        self.kind = kind
        run = request.query("run").flatMap { UUID(uuidString: $0) }
        path = request.query("to").flatMap { Self.isOwn($0) ? $0 : nil }
        func number(_ name: String) -> Int { request.query(name).flatMap { Int($0) }.map { max(0, $0) } ?? 0 }
        kept = number("kept")
        count = number("count")
    }

    /// Returns the path of a page that shows the notice.
    func on(_ page: String) -> String {
        Pages.path(
            page,
            [
                ("done", kind.rawValue), ("run", run?.uuidString), ("to", path),
                ("kept", kept > 0 ? "\(kept)" : nil), ("count", count > 0 ? "\(count)" : nil),
            ])
    }

    /// Whether a path leads to a page of the scorebook. A browser would take `//elsewhere` for another server.
    static func isOwn(_ path: String) -> Bool {
        path.wholeMatch(of: /\/|(\/[A-Za-z0-9._%-]+)+/) != nil
    }

    func text(_ reader: Reader) -> String {
        var text = kind.text
        if count > 0 { text += " \(Pages.records(count, reader)) changed." }
        if kept > 0 { text += " \(reader.number(kept)) stayed: somebody has changed it since." }
        return text
    }

    /// For the template of the frame.
    func content(_ reader: Reader, mayTakeBack: Bool) -> [String: any Sendable] {
        [
            "text": text(reader), "run": run?.uuidString ?? "", "to": path ?? "/", "mayTakeBack": mayTakeBack,
            "isDeleted": kind == .deleted,
        ]
    }
}

/// Lets every page show the notice that its query has.
struct Notices: RouterMiddleware {
    typealias Context = PageContext

    let scorebook: ScorebookStore

    func handle(
        _ request: Request, context: PageContext, next: (Request, PageContext) async throws -> Response
    ) async throws -> Response {
        guard request.method == .get, let notice = Notice(request) else {
            return try await next(request, context)
        }
        var context = context
        var mayTakeBack = false
        if let run = notice.run { mayTakeBack = try await scorebook.hasWritten("\(run)") }
        context.notice = notice.content(context.reader, mayTakeBack: mayTakeBack)
        return try await next(request, context)
    }
}

extension Pages {
    /// The scorebook for what one form writes, and the id of these writes, by which they can be taken back.
    ///
    /// - Parameters:
    ///   - name: the command that does the same, as `undo` names it.
    ///   - run: the id, if whoever sent the form has given it one.
    func command(_ name: String, run: UUID = UUID()) -> (scorebook: ScorebookStore, run: UUID) {
        var habits = scorebook.habits
        habits.command = Habits.Command(name: name, run: "\(run)")
        return (scorebook.with(habits), run)
    }

    func addUndo(to router: Router<PageContext>) {
        router.post("back") { request, context in
            let form = try await request.decode(as: BackForm.self, context: context)
            let undone = try await scorebook.undo("\(form.run)")
            let notice = undone.isEmpty ? Notice(.overtaken) : Notice(.back, kept: undone.kept)
            if request.wantsJSON { return try json(["message": notice.text(context.reader)]) }
            let path = form.to.flatMap { Notice.isOwn($0) ? $0 : nil } ?? "/"
            return redirect(notice.on(path))
        }
    }

    private struct BackForm: Decodable {
        let run: UUID
        let to: String?
    }

    /// Returns the page of a record with the notice of an edit, which may have changed nothing.
    func saved(_ run: UUID, at path: String, _ kind: Notice.Kind = .saved) async throws -> Response {
        guard try await scorebook.hasWritten("\(run)") else {
            return redirect(Notice(.unchanged).on(path))
        }
        return redirect(Notice(kind, run: run, path: path).on(path))
    }
}
