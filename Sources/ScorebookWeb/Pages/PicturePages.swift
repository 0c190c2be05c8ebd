import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import PeerSync
import Scorebook

/// The pictures of matches, persons and games: their files, and the forms that add and delete them.
extension Pages {
    func addPictures(to router: Router<PageContext>) {
        router.get("pictures/:hash") { request, context in
            try await picture(hash(context), saves: request.query("save") != nil, request, context)
        }
        router.get("pictures/:hash/small") { request, context in
            let hash = try hash(context)
            guard let small = await thumbnails?.file(hash) else {
                return try await picture(hash, saves: false, request, context)
            }
            return try await Self.file(small.path, type: "image/jpeg", tag: "\(hash)-small", request, context)
        }
        router.post("matches/:id/pictures") { request, context in
            try await addPictures(record(.match, context), request, context)
        }
        for (folder, kind) in [("people", RecordKind.person), ("games", .game)] {
            router.post("\(folder)/:id/picture") { request, context in
                try await setPicture(kind, record(kind, context), request, context)
            }
            router.post("\(folder)/:id/picture/delete") { _, context in
                let name = try record(kind, context)
                let (scorebook, run) = command("\(kind.noun) edit")
                try await Self.edit(kind, name, .clear, in: scorebook)
                return try await saved(run, at: Self.path(name), .pictureDeleted)
            }
        }
        router.post("images/:id/delete") { _, context in
            let name = try record(.matchImage, context)
            let match = try await scorebook.picture("\(name)").match
            let (scorebook, run) = command("image delete")
            _ = try await scorebook.delete(name)
            return try await saved(run, at: match.map(Self.path) ?? "/matches", .pictureDeleted)
        }
    }

    // MARK: On pages

    /// The pictures of a record as its page shows them, and where the form sends further ones.
    ///
    /// - Parameter title: what the picture shows where it has no caption.
    func pictures(of name: RecordName, _ title: String) async throws -> [String: Any] {
        let isMatch = name.recordType == RecordKind.match.recordType
        let path = Self.path(name)
        return [
            "isOne": !isMatch, "upload": path + (isMatch ? "/pictures" : "/picture"),
            "list": try await found(name).map { picture in
                [
                    "isHere": picture.isHere,
                    "reason": picture.image == nil ? "No picture" : "Not on this machine yet",
                    "path": picture.isHere
                        ? "/pictures/\(picture.image?.hash.description ?? "")" : false as Any,
                    "small": "/pictures/\(picture.image?.hash.description ?? "")/small",
                    "caption": picture.caption.flatMap { $0.isEmpty ? nil : $0 }.shown,
                    "alt": picture.caption.flatMap { $0.isEmpty ? nil : $0 } ?? "Picture of \(title)",
                    "deletion": isMatch
                        ? Self.path(picture.recordName) + "/delete" : path + "/picture/delete",
                ] as [String: Any]
            },
        ]
    }

    private func found(_ name: RecordName) async throws -> [Picture] {
        do {
            return try await scorebook.findPictures("\(name)")
        } catch let error as ScorebookError where error.code == .notFound {
            return []
        }
    }

    // MARK: Files

    private func hash(_ context: PageContext) throws -> AssetHash {
        guard let hash = AssetHash(hex: context.parameters.get("hash") ?? "") else { throw Self.noPicture }
        return hash
    }

    private static var noPicture: PageError {
        PageError(.notFound, "There is no such picture on this machine.")
    }

    private func picture(
        _ hash: AssetHash, saves: Bool, _ request: Request, _ context: PageContext
    ) async throws -> Response {
        guard let file = scorebook.records.assetDirectory?.file(hash) else { throw Self.noPicture }
        let start = try? await NIOThreadPool.singleton.runIfActive {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            return try handle.read(upToCount: MediaType.signatureLength) ?? Data()
        }
        guard let start else { throw Self.noPicture }
        // What a record says of its file is not to be relied on. A browser shows only what begins as a picture.
        let type = MediaType.recognized(start)
        var response = try await Self.file(
            file.path, type: type ?? MediaType.unknown, tag: "\(hash)", request, context)
        if saves || type == nil {
            let fileExtension = type.map { "." + ($0.dropFirst("image/".count)) } ?? ""
            response.headers[.contentDisposition] =
                "attachment; filename=\"\(hash.description.prefix(12))\(fileExtension)\""
        }
        return response
    }

    /// Answers with a file, or says that the browser has it. A browser asks each time, so that one that is shut out shows nothing
    /// that it has seen.
    ///
    /// - Parameter tag: another one for other bytes.
    private static func file(
        _ path: String, type: String, tag: String, _ request: Request, _ context: PageContext
    ) async throws -> Response {
        let quoted = "\"\(tag)\""
        let headers: HTTPFields = [
            .contentType: type, .cacheControl: "private, no-cache", .eTag: quoted,
            // If a browser took it for a page after all, the page could do nothing.
            .contentSecurityPolicy: "default-src 'none'; sandbox",
        ]
        if request.headers[.ifNoneMatch]?.contains(quoted) == true {
            return Response(status: .notModified, headers: headers)
        }
        return Response(
            status: .ok, headers: headers, body: try await FileIO().loadFile(path: path, context: context))
    }

    // MARK: Forms

    private func addPictures(
        _ match: RecordName, _ request: Request, _ context: PageContext
    ) async throws -> Response {
        let (scorebook, run) = command("image add")
        try await uploads.receive(request) { form in
            let files = try form.files.map(Self.named)
            guard !files.isEmpty else { throw Self.nothingChosen }
            let caption = form.texts["caption"]?.trimmingCharacters(in: .whitespaces)
            _ = try await scorebook.addImages(
                match: "\(match)", files: files, caption: caption.flatMap { $0.isEmpty ? nil : $0 })
        }
        return try await saved(run, at: Self.path(match))
    }

    private func setPicture(
        _ kind: RecordKind, _ name: RecordName, _ request: Request, _ context: PageContext
    ) async throws -> Response {
        let (scorebook, run) = command("\(kind.noun) edit")
        try await uploads.receive(request) { form in
            guard let file = form.files.first else { throw Self.nothingChosen }
            try await Self.edit(kind, name, .set(Self.named(file)), in: scorebook)
        }
        return try await saved(run, at: Self.path(name))
    }

    private static var nothingChosen: PageError {
        PageError(.unprocessableContent, "Choose a picture first, or take one.")
    }

    private static func edit(
        _ kind: RecordKind, _ name: RecordName, _ picture: Change<URL>, in scorebook: ScorebookStore
    ) async throws {
        if kind == .person {
            _ = try await scorebook.editPerson("\(name)", PersonEdit(avatar: picture))
        } else {
            var edit = GameEdit()
            edit.thumbnail = picture
            _ = try await scorebook.editGame("\(name)", edit)
        }
    }

    /// Gives an uploaded picture the name that it has where it comes from, which goes into its record.
    ///
    /// - Throws: ``PageError`` if it is no picture.
    private static func named(_ file: UploadedForm.File) throws -> URL {
        let old = URL(fileURLWithPath: file.path)
        do {
            try PictureFile.check(old, name: "“\(file.name)”")
        } catch let error as ScorebookError {
            throw PageError(.unprocessableContent, PageError.sentence(error.message))
        }
        let folder = old.appendingPathExtension("named")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let new = try file.place(in: folder)
        try FileManager.default.moveItem(at: old, to: new)
        return new
    }
}
