import Foundation
import Hummingbird
import PeerSync
import Scorebook

/// The lists of games and of people: those that were played last first, found by a part of the name, page by page.
extension Pages {
    /// The number of records on one page of a list.
    private static let namesPageSize = 100
    /// A list that fits a screen needs no field to find something in it.
    private static let glance = 12

    func addNameLists(to router: Router<PageContext>) {
        router.get("games") { request, context in
            try await names(
                try await figures.games(), "Games", "/games", nothing: "No games yet.", request, context)
        }
        router.get("people") { request, context in
            try await names(
                try await figures.persons(), "People", "/people", nothing: "Nobody yet.", request, context)
        }
    }

    private func names(
        _ records: [RecentRecord], _ title: String, _ section: String, nothing: String, _ request: Request,
        _ context: PageContext
    ) async throws -> Response {
        let text = request.query("text")
        let found = records.filter { record in
            text.map { record.name.range(of: $0, options: [.caseInsensitive, .diacriticInsensitive]) != nil }
                ?? true
        }
        let page = Self.pageNumber(request)
        let shown = found.dropFirst((page - 1) * Self.namesPageSize).prefix(Self.namesPageSize)
        func path(_ page: Int) -> String {
            Self.path(section, [("text", text), ("page", "\(page)")])
        }
        return try render(
            "names", title: title, section: section,
            [
                "section": section, "names": shown.map { Self.line($0, context.reader) },
                "nothing": shown.isEmpty
                    ? (text == nil ? nothing : "Nothing has this in its name.") : false as Any,
                "finds": text != nil || records.count > Self.glance, "text": text ?? "",
                "isFiltered": text != nil,
                "next": found.count > page * Self.namesPageSize ? path(page + 1) : false as Any,
                "previous": page > 1 ? path(page - 1) : false as Any,
            ], context)
    }

    /// A person or game as lists show it.
    private static func line(_ record: RecentRecord, _ reader: Reader) -> [String: Any] {
        [
            "path": path(record.recordName), "name": displayName(record.name),
            "matches": record.matches == 1 ? "1 match" : "\(reader.number(record.matches)) matches",
            "last": record.lastDate.map(reader.day).shown,
        ]
    }

    /// Returns the name of a person, game or record as pages show it: words in place of none.
    static func displayName(_ name: String?) -> String {
        name.flatMap { $0.isEmpty ? nil : $0 } ?? "(no name)"
    }

    // MARK: Pages of a list

    /// The page of a list that somebody asks for, 1 for the first.
    static func pageNumber(_ request: Request) -> Int {
        min(1_000_000, max(1, request.query("page").flatMap { Int($0) } ?? 1))
    }

    /// Returns a path with those values of a query that are there.
    static func path(_ path: String, _ query: [(name: String, value: String?)]) -> String {
        // URLComponents would leave a plus, which whoever reads a query takes for a blank.
        let values = query.compactMap { name, value in value.map { Self.query(name, $0) } }
        return values.isEmpty ? path : "\(path)?\(values.joined(separator: "&"))"
    }
}
