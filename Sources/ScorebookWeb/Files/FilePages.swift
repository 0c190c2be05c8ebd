import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import PeerSync
import Scorebook

/// Files that go out: exports and a backup. And the page for all files.
extension Pages {
    func addFiles(to router: Router<PageContext>) {
        router.get("files") { _, context in try await files(context) }
        router.get("files/scorebook.json") { request, _ in
            var part = scorebook
            if let zone = request.query("zone") {
                part = scorebook.limited(to: try await scorebook.records.zones.find(named: zone))
            }
            return try await download("json", "application/json") { [part] file in
                try await part.exportFile(at: file.path)
            }
        }
        router.get("files/scorebook.sqlite") { _, _ in
            try await download("sqlite", "application/vnd.sqlite3") { try await scorebook.backUp(to: $0) }
        }
        router.get("files/matches.csv") { _, _ in try await matchesCSV() }
        addImports(to: router)
    }

    /// - Parameter slip: what was wrong with a file that somebody sent.
    func files(_ context: PageContext, slip: PageError? = nil) async throws -> Response {
        let zones = try await scorebook.records.zones.all()
        let reader = context.reader
        return try render(
            "files", title: "Files", section: "/files",
            [
                "limit": Uploads.maximumSize, "megabytes": reader.number(Uploads.maximumSize / 1_000_000),
                "slip": (slip?.message).shown,
                "zones": zones.map { zone in
                    [
                        "name": zones.count == 1 ? "The whole scorebook" : "The zone “\(zone.name)”",
                        "query": zones.count == 1 ? "" : "?\(Self.query("zone", zone.name))",
                    ]
                },
            ], context, slip?.status ?? .ok)
    }

    // MARK: Downloads

    /// Answers with a file that `write` makes. Nothing of it stays on the disk.
    private func download(
        _ ending: String, _ type: String, _ write: (URL) async throws -> some Sendable
    ) async throws -> Response {
        let directory = try UploadDirectories.make()
        let file = directory.appendingPathComponent("download")
        do {
            _ = try await write(file)
            let handle = try FileHandle(forReadingFrom: file)
            let size = try handle.seekToEnd()
            try handle.seek(toOffset: 0)
            // The open file stays readable without its name.
            await Uploads.remove(directory)
            let body = ResponseBody(contentLength: Int(size)) { writer in
                defer { try? handle.close() }
                while let piece = try await NIOThreadPool.singleton.runIfActive({
                    try handle.readPart(upTo: 262_144)
                }), !piece.isEmpty {
                    try await writer.write(ByteBuffer(bytes: piece))
                }
                try await writer.finish(nil)
            }
            return Response(status: .ok, headers: downloadHeaders("scorebook", ending, type), body: body)
        } catch {
            await Uploads.remove(directory)
            throw error
        }
    }

    /// The name has nothing in it that somebody typed.
    private func downloadHeaders(_ name: String, _ ending: String, _ type: String) -> HTTPFields {
        let now = ISO8601.text(milliseconds: RecordStore.wallClock(), fraction: .ifNeeded) ?? ""
        let day = scorebook.time.dayText(now)
        return [
            .contentType: type, .contentDisposition: "attachment; filename=\"\(name)-\(day).\(ending)\"",
        ]
    }

    /// The matches for a spreadsheet, page by page as they are read.
    private func matchesCSV() async throws -> Response {
        let pages = try await scorebook.matchPages()
        let body = ResponseBody { writer in
            // Some spreadsheets take a file without this mark for one in another encoding.
            try await writer.write(
                ByteBuffer(string: "\u{FEFF}" + CSVText.line(CSVText.matchTitles) + "\r\n"))
            for try await page in pages {
                let lines = try await scorebook.csvLines(of: page)
                try await writer.write(ByteBuffer(string: lines.map { $0 + "\r\n" }.joined()))
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: downloadHeaders("matches", "csv", "text/csv; charset=utf-8"), body: body)
    }
}
