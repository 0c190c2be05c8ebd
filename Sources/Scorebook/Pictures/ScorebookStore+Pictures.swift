import Foundation
import GRDB
import RecordStore
import SyncModel

extension ScorebookStore {
    /// Copies a picture into the scorebook's directory of assets. No record has it yet.
    ///
    /// Copying a large file takes its time, so it is done before the transaction that writes the record.
    ///
    /// - Throws: ``ScorebookError``: `unreadableFile`; `invalidFile` for what is empty, larger than 2 GiB or no picture;
    ///   `noAssetDirectory`. ``RecordStoreError``: `noSpace`, `assetUnwritable`.
    public func storePicture(_ file: URL) async throws -> Asset {
        let assets = try assetDirectory()
        return try await blocking {
            try PictureFile.check(file)
            let asset = try assets.add(file)
            // It may have been written to since it was looked at.
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

    /// The column's new value: the file of a picture that is to be set is stored.
    func storePicture(_ change: Change<URL>) async throws -> Change<Asset> {
        switch change {
        case .keep: .keep
        case .set(let file): .set(try await storePicture(file))
        case .clear: .clear
        }
    }

    /// Adds pictures to a match, all of them or none.
    ///
    /// - Parameter caption: of each of them.
    /// - Throws: what ``storePicture(_:)-(URL)`` throws; ``ScorebookError`` `notFound` when the match is not there.
    @discardableResult
    public func addImages(
        match text: String, files: [URL], caption: String? = nil
    ) async throws -> [MatchImage] {
        let caption = try caption?.filled.map { try Bounds.name($0, "caption") }
        let match = try await find(.match, text)
        // Nothing is copied when one of them cannot be taken.
        try await blocking { for file in files { try PictureFile.check(file) } }
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

    /// All pictures, or those of a match.
    public func pictures(match text: String? = nil) async throws -> [Picture] {
        try await pictures { [self] db in try text.map { try lookup(.match).find(db, $0) } }
    }

    /// The pictures that a text means: that of a picture's, a person's or a game's record, or all of a match.
    ///
    /// - Throws: ``ScorebookError`` `notFound` also when there is no picture.
    public func findPictures(_ text: String) async throws -> [Picture] {
        let pictures = try await pictures { [self] db in try findOwner(db, text) }
        guard !pictures.isEmpty else { throw ScorebookError(.notFound, "“\(text)” has no picture") }
        return pictures
    }

    /// The one picture that a text means.
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

    /// - Parameter owner: whose pictures; nil for all.
    private func pictures(
        _ owner: @escaping @Sendable (Database) throws -> RecordName?
    ) async throws -> [Picture] {
        // What other programs wrote into a column is no picture before it is taken in.
        try await foldForReading()
        let pictures = try await read { [self] db in
            try Picture.fetchAll(db, of: owner(db), where: limits())
        }
        return pictures.map { picture in
            var picture = picture
            picture.isHere = picture.image.map { records.assets.file($0) != nil } ?? false
            return picture
        }
    }

    /// The record with pictures that a text means. Persons and games are found by their names as well.
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

    /// Empties a column that holds something else than a picture, too.
    static func clear(_ db: Database, _ name: RecordName, _ column: String) throws {
        try db.execute(
            sql:
                "UPDATE \(name.recordType) SET \(column) = NULL WHERE recordName = ? AND \(column) IS NOT NULL",
            arguments: [name])
    }
}
