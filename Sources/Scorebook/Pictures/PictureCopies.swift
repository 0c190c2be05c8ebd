import Foundation
import NIOPosix
import PeerSync

/// The result of copying the files of pictures from one directory to another.
public struct PictureCopies: Sendable, Equatable, Encodable {
    /// The number of copied files.
    public internal(set) var copied = 0
    /// The number of bytes in them.
    public internal(set) var bytes: Int64 = 0
    /// The number of files that were there already.
    public internal(set) var unchanged = 0
    /// The pictures without a file to copy.
    public internal(set) var missing: [PictureUse] = []
    /// The pictures whose file has the wrong bytes and was not copied.
    public internal(set) var damaged: [PictureUse] = []
}

extension ScorebookStore {
    /// Copies the files of all pictures in an export to a directory, each under its hash and the extension of its type.
    ///
    /// - Parameter store: the files that the copies must not overwrite.
    /// - Throws: ``ScorebookError``: `notWritable`, `noAssetDirectory`.
    public func exportPictures(
        _ contents: ExportContents, to directory: URL, sparing store: StoreFiles = .none
    ) async throws -> PictureCopies {
        let assets = try assetDirectory()
        return try await NIOThreadPool.singleton.runIfActive {
            var copies = PictureCopies()
            for use in contents.pictures.list {
                let image = use.image
                let name = "\(image.hash).\(PictureFileName.fileExtension(image.mediaType))"
                let target = directory.appendingPathComponent(name)
                if Self.size(of: target) == image.size,
                    AssetDirectory.hash(ofFile: target.resolvingSymlinksInPath()) == image.hash
                {
                    copies.unchanged += 1
                } else if !assets.contains(image.hash, size: image.size) {
                    copies.missing.append(use)
                } else if !assets.isIntact(image.hash) {
                    copies.damaged.append(use)
                } else {
                    try PictureFile.save(
                        assets.file(image.hash), to: target, replaces: true, sparing: store)
                    copies.copied += 1
                    copies.bytes += image.size
                }
            }
            return copies
        }
    }

    /// Copies files from a directory that ``exportPictures(_:to:sparing:)`` wrote, for all pictures of which the
    /// scorebook has the records but not the files.
    ///
    /// - Throws: ``ScorebookError``: `unreadableFile` when the directory cannot be read, `noAssetDirectory`.
    ///   ``RecordStoreError``: `noSpace`, `assetUnwritable`.
    public func importPictures(from directory: URL) async throws -> PictureCopies {
        let assets = try assetDirectory()
        let files = try Self.filesByHash(directory)
        let uses = try await pictureUses()
        return try await NIOThreadPool.singleton.runIfActive {
            var copies = PictureCopies()
            for use in uses {
                let image = use.image
                // Whoever brings the right bytes mends a damaged file. Without them, nobody reads all files for that.
                if assets.contains(image.hash, size: image.size),
                    files[image.hash] == nil || assets.isIntact(image.hash)
                {
                    copies.unchanged += 1
                } else if let file = files[image.hash] {
                    guard Self.size(of: file) == image.size, try assets.add(file, expecting: image.hash)
                    else {
                        copies.damaged.append(use)
                        continue
                    }
                    copies.copied += 1
                    copies.bytes += image.size
                } else {
                    copies.missing.append(use)
                }
            }
            return copies
        }
    }

    /// Makes the directory for ``exportPictures(_:to:sparing:)`` if it does not exist. Call this before the export.
    public func makePictureDirectory(_ directory: URL, sparing store: StoreFiles = .none) throws {
        guard !store.contain(directory.path) else {
            throw OutputFile.refused(
                directory.relativePath, "it belongs to the scorebook itself; choose another place")
        }
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch {
            throw ScorebookError(
                .notWritable,
                "the directory \(Display.printable(directory.relativePath)) cannot be made; "
                    + "check whether a file is in its place, and who may write there")
        }
    }

    /// Refuses a directory that cannot be read. Call this before the import.
    public func checkPictureDirectory(_ directory: URL) throws {
        _ = try assetDirectory()
        _ = try Self.filesByHash(directory)
    }

    /// Finds the files that are named after a hash, with or without an extension.
    private static func filesByHash(_ directory: URL) throws -> [AssetHash: URL] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        } catch {
            let path = Display.printable(directory.relativePath)
            throw ScorebookError(
                .unreadableFile, "the directory \(path) cannot be read; check that it exists")
        }
        var files: [AssetHash: URL] = [:]
        for name in names.sorted() {
            let stem = name.prefix { $0 != "." }
            guard let hash = AssetHash(hex: stem), files[hash] == nil else { continue }
            files[hash] = directory.appendingPathComponent(name)
        }
        return files
    }

    /// Returns the size in bytes; nil if the file is not regular.
    private static func size(of file: URL) -> Int64? {
        var status = stat()
        guard stat(file.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }
}
