import Foundation
import GRDB
import NIOPosix
import PeerSync

extension ScorebookStore {
    /// Copies a picture into the scorebook's directory of assets, without a record for it.
    ///
    /// Copying a large file takes time, so callers do it before the transaction that writes the record.
    ///
    /// - Throws: ``ScorebookError``: `unreadableFile`; `invalidFile` for a file that is empty, larger than 2 GiB or no
    ///   picture; `noAssetDirectory`. ``RecordStoreError``: `noSpace`, `assetUnwritable`.
    public func storePicture(_ file: URL) async throws -> Asset {
        let assets = try assetDirectory()
        return try await NIOThreadPool.singleton.runIfActive {
            try PictureFile.check(file)
            let asset = try assets.add(file)
            // Another program may have written to the file since the check.
            guard asset.size > 0, asset.mediaType != MediaType.unknown else {
                throw PictureFile.notAPicture(Display.printable(file.relativePath))
            }
            return asset
        }
    }

    /// - Throws: ``ScorebookError`` `noAssetDirectory`.
    func assetDirectory() throws -> AssetDirectory {
        guard let assets = records.assetDirectory else {
            throw ScorebookError(
                .noAssetDirectory, "this scorebook was opened without a directory for pictures")
        }
        return assets
    }

    /// Stores the file of a new picture, and returns the change of its column.
    func storePicture(_ change: Change<URL>) async throws -> Change<Asset> {
        switch change {
        case .keep: .keep
        case .set(let file): .set(try await storePicture(file))
        case .clear: .clear
        }
    }

    /// Adds pictures to a match, all of them or none.
    ///
    /// - Parameter caption: the caption of each of them.
    /// - Throws: what ``storePicture(_:)-(URL)`` throws; ``ScorebookError`` `notFound` when there is no such match.
    @discardableResult
    public func addImages(
        match text: String, files: [URL], caption: String? = nil
    ) async throws -> [MatchImage] {
        let caption = try caption?.filled.map { try Bounds.name($0, "caption") }
        let match = try await find(.match, text)
        // Checks all files first: it copies none if one of them cannot be added.
        try await NIOThreadPool.singleton.runIfActive { for file in files { try PictureFile.check(file) } }
        var images: [Asset] = []
        for file in files { images.append(try await storePicture(file)) }
        return try await write { [self, images] db in
            let match: Match = try Self.fetch(db, match)
            let added = images.map { MatchImage(match: match.recordName, image: $0, caption: caption) }
            for image in added { try image.insert(db) }
            return try added.map { try settled(db, $0.recordName) }
        }
    }

    /// Changes the caption of a match's picture.
    @discardableResult
    public func editImage(_ text: String, caption: Change<String>) async throws -> MatchImage {
        try await write { [self] db in
            let name = try lookup(.matchImage).find(db, text)
            let old: MatchImage = try Self.fetch(db, name)
            var image = old
            caption.apply(to: &image.caption)
            if case .set(let text) = caption { image.caption = try Bounds.name(text, "caption") }
            try image.updateChanges(db, from: old)
            return try settled(db, name)
        }
    }

    /// Lists all pictures, or those of a match.
    public func pictures(match text: String? = nil) async throws -> [Picture] {
        try await pictures { [self] db in try text.map { try lookup(.match).find(db, $0) } }
    }

    /// Finds the pictures that a text names: the one of a picture, person or game, or all of a match.
    ///
    /// - Throws: ``ScorebookError`` `notFound` also when there is no picture.
    public func findPictures(_ text: String) async throws -> [Picture] {
        let pictures = try await pictures { [self] db in try findOwner(db, text) }
        guard !pictures.isEmpty else { throw ScorebookError(.notFound, "“\(text)” has no picture") }
        return pictures
    }

    /// Finds the one picture that a text names.
    ///
    /// - Throws: ``ScorebookError``: `notFound`; `ambiguous` for a match with several pictures.
    public func picture(_ text: String) async throws -> Picture {
        let pictures = try await findPictures(text)
        guard pictures.count == 1 else {
            throw ScorebookError(
                .ambiguous,
                "“\(text)” has \(pictures.count) pictures; give the record name of one, as `image list` shows them"
            )
        }
        return pictures[0]
    }

    /// - Parameter owner: finds the owner of the pictures; nil for all.
    private func pictures(
        _ owner: @escaping @Sendable (Database) throws -> RecordName?
    ) async throws -> [Picture] {
        // Bytes that another program wrote into a column become a picture only in the fold.
        try await foldForReading()
        let pictures = try await read { [self] db in
            try Picture.fetchAll(db, of: owner(db), where: limits(), time)
        }
        return pictures.map { picture in
            var picture = picture
            picture.isHere = picture.image.map { records.assets.file($0) != nil } ?? false
            return picture
        }
    }

    /// Finds the record with pictures that a text names. The text may be the name of a person or a game.
    private func findOwner(_ db: Database, _ text: String) throws -> RecordName {
        let kinds: [RecordKind] = [.matchImage, .match, .person, .game]
        if text.contains(RecordName.separator) {
            let kind = kinds.first { text.trimmed.hasPrefix($0.recordType + RecordName.separator) }
            return try lookup(kind ?? .matchImage).find(db, text)
        }
        for kind in kinds.prefix(2) {
            if let name = try lookup(kind).findIfThere(db, text) { return name }
        }
        let found = try kinds.dropFirst(2).compactMap { try lookup($0).findIfThere(db, text) }
        guard let name = found.first else {
            throw ScorebookError(
                .notFound, "there is no picture “\(text)”; `image list` shows those there are")
        }
        guard found.count == 1 else {
            throw ScorebookError(
                .ambiguous,
                "“\(text)” fits several: \(found.map(\.description).joined(separator: ", ")); "
                    + "give the record name of one")
        }
        return name
    }

    /// Empties a picture's column, even if it holds something else.
    static func clear(_ db: Database, _ name: RecordName, _ column: String) throws {
        try db.execute(
            sql:
                "UPDATE \(name.recordType) SET \(column) = NULL WHERE recordName = ? AND \(column) IS NOT NULL",
            arguments: [name])
    }
}
