import Foundation
import HTTPTypes
import Hummingbird
import Mustache
import PeerSync
import Scorebook

/// The pages: what each shows, and what its forms do.
struct Pages: Sendable {
    let scorebook: ScorebookStore
    let uploads = Uploads()
    let imports = WaitingImports()
    /// The figures of statistics.
    let figures: FigureCache
    /// Small forms of pictures; nil for a scorebook that keeps no files.
    let thumbnails: Thumbnails?
    let machineTools: MachineTools
    private let library: MustacheLibrary

    init(_ scorebook: ScorebookStore, _ machineTools: MachineTools) throws {
        self.scorebook = scorebook
        self.machineTools = machineTools
        library = try Self.templates()
        figures = try FigureCache(scorebook)
        thumbnails = scorebook.records.assetDirectory.map { Thumbnails($0) }
    }

    func addRoutes(to router: Router<PageContext>) {
        router.add(middleware: Notices(scorebook: scorebook))
        addTonight(to: router)
        addMatches(to: router)
        addEnding(to: router)
        addNameLists(to: router)
        addPersons(to: router)
        addGames(to: router)
        addUndo(to: router)
        addEditing(to: router)
        addDeletions(to: router)
        addHistory(to: router)
        addFiles(to: router)
        addStatistics(to: router)
        addPictures(to: router)
        addMachines(to: router)
        addMachine(to: router)
        addZones(to: router)
        addPairing(to: router)
    }

    // MARK: Answers

    /// Fills a template, within the frame that all pages have.
    ///
    /// - Parameters:
    ///   - name: the name of the template.
    ///   - section: the path of the entry in the navigation where the page belongs.
    func render(
        _ name: String, title: String, section: String? = nil, _ content: [String: Any],
        _ context: PageContext,
        _ status: HTTPResponse.Status = .ok
    ) throws -> Response {
        var content = content
        content["title"] = title
        let isGuest = context.browser?.isGuest == true
        content["isGuestBrowser"] = isGuest
        content["isLetIn"] = context.browser != nil
        content["navigation"] = Self.sections.filter { path, _ in
            !isGuest || !Entrance.closedToGuests.contains(String(path.dropFirst()))
        }.map { path, name in
            ["path": path, "name": name, "isHere": path == section] as [String: Any]
        }
        content["notice"] = context.notice.shown
        guard let text = library.render(content, withTemplate: name) else {
            preconditionFailure("there is no template \(name)")
        }
        return Response(
            status: status, headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    private static let sections = [
        ("/", "Tonight"), ("/matches", "Matches"), ("/games", "Games"), ("/people", "People"),
        ("/statistics", "Statistics"), ("/machines", "Machines"), ("/files", "Files"),
    ]

    /// Answers a form that the script sent.
    func json(_ value: some Encodable, _ status: HTTPResponse.Status = .ok) throws -> Response {
        let bytes = try JSONEncoder().encode(value)
        return Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// Answers a form that the browser sent: shows another page.
    func redirect(_ path: String) -> Response {
        Response(status: .seeOther, headers: [.location: path])
    }

    // MARK: Records in paths

    /// Returns the record whose name ends with the last part of the path.
    func record(_ kind: RecordKind, _ context: PageContext) throws -> RecordName {
        let part = context.parameters.get("id") ?? ""
        let text = part.removingPercentEncoding ?? part
        guard let name = try? RecordName(recordType: kind.recordType, suffix: text) else {
            throw PageError(.notFound, "There is no such \(kind.noun).")
        }
        return name
    }

    /// Returns the path of a record's page.
    static func path(_ name: RecordName) -> String {
        let folder = RecordKind(rawValue: name.recordType).flatMap { folders[$0] } ?? "records"
        var safe = CharacterSet.alphanumerics
        safe.insert(charactersIn: "-_.")
        return "/\(folder)/\(name.suffix.addingPercentEncoding(withAllowedCharacters: safe) ?? "")"
    }

    private static let folders: [RecordKind: String] = [
        .match: "matches", .game: "games", .person: "people", .matchImage: "images",
    ]
}

extension Optional {
    /// The value for a template, which leaves out what is false. A template would write out nil.
    var shown: Any { map { $0 as Any } ?? false }
}
