import Foundation
import PeerSyncModel

/// The files of a store's assets, each under the name of its hash.
///
/// | path | what |
/// | --- | --- |
/// | `3f/3f9a…` | a file; the name is its BLAKE2b-256 hash in hexadecimal, the directory its first two digits |
/// | `incoming/3f9a…` | the bytes so far of a file that the store is receiving; locked while a task receives it |
/// | `incoming/….new` | a file that a program is adding, before its hash is known |
/// | `damaged/3f9a…` | a file that was found to have another hash than its name |
///
/// A file gets its name only when it is whole and durable. The directory alone says which files the store has: no table
/// repeats it. All calls block.
public struct AssetDirectory: Sendable {
    /// The directory.
    public let url: URL
    /// The space on the disk that files of peers leave free, so that the store can still write records: 32 MiB.
    package static let reserve: Int64 = 32 << 20

    static let bufferSize = 1 << 20
    /// The number of free bytes at a directory; nil when nobody can tell.
    private let freeSpace: @Sendable (URL) -> Int64?

    /// - Parameter url: the directory; the first file creates it.
    public init(at url: URL) {
        self.init(at: url) { url in
            var status = statvfs()
            guard statvfs(url.path, &status) == 0 else { return nil }
            return Self.bytes(of: UInt64(status.f_bavail), blocksOf: UInt64(status.f_frsize))
        }
    }

    package init(at url: URL, freeSpace: @escaping @Sendable (URL) -> Int64?) {
        self.url = url
        self.freeSpace = freeSpace
    }

    /// File systems without a limit, such as some on networks, report numbers whose product overflows.
    package static func bytes(of blocks: UInt64, blocksOf size: UInt64) -> Int64 {
        let (product, overflow) = blocks.multipliedReportingOverflow(by: size)
        return overflow ? .max : Int64(clamping: product)
    }

    var incomingFiles: URL { url.appendingPathComponent("incoming", isDirectory: true) }
    var damagedFiles: URL { url.appendingPathComponent("damaged", isDirectory: true) }

    /// The path of the file with that hash, whether the file is there or not.
    public func file(_ hash: AssetHash) -> URL {
        let name = hash.description
        return url.appendingPathComponent(String(name.prefix(2)), isDirectory: true)
            .appendingPathComponent(name)
    }

    /// Whether the file is there with the right size. It does not read the bytes.
    public func contains(_ hash: AssetHash, size: Int64) -> Bool { self.size(hash) == size }

    /// The size of a file; nil when it is not there.
    package func size(_ hash: AssetHash) -> Int64? {
        var status = stat()
        guard lstat(file(hash).path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    /// Whether a file of that hash is there, with any size.
    package func isHere(_ hash: AssetHash) -> Bool { access(file(hash).path, R_OK) == 0 }

    /// All files in the directory, with their sizes.
    package func present() throws -> [AssetHash: Int64] {
        var found: [AssetHash: Int64] = [:]
        for digits in UInt8.min...UInt8.max {
            let directory = url.appendingPathComponent([digits].hexadecimal, isDirectory: true)
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path) else {
                continue
            }
            for name in names {
                guard let hash = AssetHash(hex: name) else { continue }
                var status = stat()
                guard lstat(file(hash).path, &status) == 0 else { continue }
                found[hash] = Int64(status.st_size)
            }
        }
        return found
    }

    // MARK: Adding

    /// Copies a file into the directory, and describes it.
    ///
    /// - Parameters:
    ///   - source: the file; a link is followed.
    ///   - mediaType: as ``/PeerSyncModel/Asset/mediaType``; by default what the first bytes say.
    /// - Throws: ``RecordStoreError``: `unreadableFile`; `invalidValue` when the file is too large, or the text is no media type;
    ///   `noSpace`, `assetUnwritable`.
    public func add(_ source: URL, mediaType: String? = nil) throws -> Asset {
        try add(source, mediaType: mediaType, maximumSize: Asset.maximumSize)
    }

    /// - Parameter maximumSize: the most bytes of a file: ``/PeerSyncModel/Asset/maximumSize``, or less in tests.
    func add(_ source: URL, mediaType: String? = nil, maximumSize: Int64) throws -> Asset {
        if let mediaType, !Asset.isMediaType(mediaType) {
            throw RecordStoreError(.invalidValue, "“\(mediaType)” is not a media type")
        }
        // The user may name a link.
        let path = source.resolvingSymlinksInPath().path
        let file = try understandingReads(of: source) { try PosixFile(path, O_RDONLY) }
        let (status, start) = try understandingReads(of: source) {
            let status = try file.status()
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw RecordStoreError(.unreadableFile, "\(source.path) is not a file")
            }
            return (status, try file.read(at: 0, upTo: MediaType.signatureLength))
        }
        guard Int64(status.st_size) <= maximumSize else { throw Self.tooLarge(source) }
        let (hash, count) = try add { offset in
            // A program may write to it meanwhile.
            guard offset <= maximumSize else { throw Self.tooLarge(source) }
            return try understandingReads(of: source) { try file.read(at: offset, upTo: Self.bufferSize) }
        }
        guard
            let asset = Asset(
                hash: hash, size: count,
                mediaType: mediaType ?? MediaType.recognized(start) ?? MediaType.unknown,
                name: Asset.name(from: source.lastPathComponent))
        else { throw Self.tooLarge(source) }
        return asset
    }

    private static func tooLarge(_ source: URL) -> RecordStoreError {
        RecordStoreError(
            .invalidValue, "\(source.path) is larger than 2 GiB, the most that an asset may have")
    }

    /// Turns the errors of reading a file from elsewhere into errors with a sentence for people.
    private func understandingReads<Value>(of source: URL, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as PosixError {
            throw RecordStoreError(.unreadableFile, "\(source.path) cannot be read: \(error)")
        }
    }

    /// Puts bytes without a file of their own into a file.
    package func add(_ bytes: [UInt8]) throws -> Asset {
        let asset = Asset(describing: bytes)
        // A search is cheaper than a copy, so it comes first.
        guard !keepIfHere(asset.hash, size: asset.size) else { return asset }
        _ = try add { offset in
            Array(bytes[Int(offset)..<min(bytes.count, Int(offset) + Self.bufferSize)])
        }
        return asset
    }

    /// Keeps an existing file for as long as a new one, because a record is about to refer to it.
    ///
    /// - Returns: false when the file is not there, or damaged: then the new one takes its place.
    private func keepIfHere(_ hash: AssetHash, size: Int64) -> Bool {
        contains(hash, size: size) && isIntact(hash) && utimes(file(hash).path, nil) == 0
    }

    /// Copies a file into the directory if its bytes have the expected hash. An app restores the files of a backup with
    /// this: records already name the hashes.
    ///
    /// - Parameters:
    ///   - source: the file; a link is followed.
    ///   - hash: the hash that a record has for the file.
    /// - Returns: false when the bytes have another hash or cannot be read; the directory is as before then.
    /// - Throws: ``RecordStoreError``: `noSpace`, `assetUnwritable`.
    public func add(_ source: URL, expecting hash: AssetHash) throws -> Bool {
        guard let file = try? PosixFile(source.resolvingSymlinksInPath().path, O_RDONLY) else { return false }
        let (found, _) = try add(expecting: hash) { offset in
            // A file that grows as fast as it is read would have no end, and is none of a record's.
            offset > Asset.maximumSize ? [] : (try? file.read(at: offset, upTo: Self.bufferSize)) ?? []
        }
        return found == hash
    }

    /// - Parameters:
    ///   - expected: the hash that the bytes must have to be kept; nil for any.
    ///   - read: returns the bytes from an offset on; none at the end.
    func add(
        expecting expected: AssetHash? = nil, _ read: (Int64) throws -> [UInt8]
    ) throws -> (AssetHash, Int64) {
        try understandingWrites {
            try make(incomingFiles)
            let new = incomingFiles.appendingPathComponent("\(UUID().uuidString).new")
            defer { unlink(new.path) }
            let file = try PosixFile(new.path, O_WRONLY | O_CREAT | O_EXCL)
            // The lock keeps others from removing it as a leftover, however long the copy takes.
            _ = file.lockIfFree()
            var hasher = AssetHasher()
            while true {
                let part = try read(hasher.count)
                guard !part.isEmpty else { break }
                try part.withUnsafeBytes { bytes in
                    try file.write(bytes, at: hasher.count)
                    hasher.update(bytes)
                }
            }
            let count = hasher.count
            let hash = hasher.finish()
            if !keepIfHere(hash, size: count), expected ?? hash == hash {
                try file.synchronize()
                try publish(new, as: hash)
            }
            return (hash, count)
        }
    }

    /// Gives a whole and durable file its name.
    func publish(_ file: URL, as hash: AssetHash) throws {
        let target = self.file(hash)
        let directory = target.deletingLastPathComponent()
        try make(directory)
        guard rename(file.path, target.path) == 0 else { throw PosixError() }
        try PosixFile(directory.path, O_RDONLY | O_DIRECTORY).synchronize()
        // A damaged copy is of no use any more.
        unlink(damagedFiles.appendingPathComponent(hash.description).path)
    }

    /// Makes a directory that only this user can read, and those around it, if they are not there.
    func make(_ directory: URL) throws {
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Turns the errors of a write into errors with a sentence for people.
    func understandingWrites<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as PosixError {
            throw error.isOutOfSpace
                ? RecordStoreError(.noSpace, "there is no room for files in \(url.path): \(error)")
                : RecordStoreError(.assetUnwritable, "files cannot be written to \(url.path): \(error)")
        } catch let error as CocoaError {
            let isFull = error.code == .fileWriteOutOfSpace
            throw isFull
                ? RecordStoreError(.noSpace, "there is no room for files in \(url.path)")
                : RecordStoreError(
                    .assetUnwritable,
                    "the directory \(url.path) cannot be made; check whether a file is in its place, and who may "
                        + "write there")
        }
    }

    // MARK: Receiving

    /// The number of bytes of a file that have come from peers so far; 0 when none have come, and when the file is whole.
    /// Whoever waits for a file sees in it that the transfer goes on.
    public func receivedCount(_ hash: AssetHash) -> Int64 {
        var status = stat()
        return lstat(incomingFiles.appendingPathComponent(hash.description).path, &status) == 0
            ? Int64(status.st_size) : 0
    }

    /// Begins to receive a file, or continues.
    ///
    /// - Returns: nil when somebody else is receiving the file at this moment.
    /// - Throws: ``RecordStoreError`` `noSpace`, also when less than ``reserve`` would be left.
    package func receive(_ hash: AssetHash, size: Int64) throws -> IncomingAsset? {
        try understandingWrites {
            try make(incomingFiles)
            let path = incomingFiles.appendingPathComponent(hash.description)
            let file = try PosixFile(path.path, O_RDWR | O_CREAT)
            // Whoever held the lock until now may have given the file its final name.
            guard file.lockIfFree(), try file.isAt(path.path) else { return nil }
            // This comes before the file is read, because the store tries a file without room again and again.
            try checkRoom(for: size - min(size, file.size))
            return try IncomingAsset(self, hash, size: size, file: file, path: path)
        }
    }

    /// Whether there is room for any file of a peer.
    package var hasRoom: Bool { freeSpace(url).map { $0 > Self.reserve } ?? false }

    func checkRoom(for bytes: Int64) throws {
        guard let free = freeSpace(url) else { return }
        guard free - bytes >= Self.reserve else {
            throw RecordStoreError(
                .noSpace,
                "there is no room for more files in \(url.path): \(free >> 20) MiB are free, of which "
                    + "\(Self.reserve >> 20) MiB are kept for records")
        }
    }

    // MARK: Reading

    /// Opens a file to send it to a peer.
    ///
    /// - Returns: nil when the file is missing or cannot be read.
    package func open(_ hash: AssetHash) -> OutgoingAsset? {
        (try? PosixFile(file(hash).path, O_RDONLY)).flatMap { try? OutgoingAsset(hash, $0) }
    }

    /// Reads a whole file, and compares its hash with its name.
    ///
    /// - Returns: false also when the file is missing or cannot be read.
    public func isIntact(_ hash: AssetHash) -> Bool {
        Self.hash(ofFile: file(hash)) == hash
    }

    /// Whether a file has another hash than its name, or cannot be read to its end.
    ///
    /// A missing file is not damaged. A file that cannot be opened, for want of rights or of descriptors, may be
    /// intact.
    ///
    /// - Throws: ``RecordStoreError`` `unreadableFile` when it cannot be opened.
    public func isDamaged(_ hash: AssetHash) throws -> Bool {
        let file: PosixFile
        do {
            file = try PosixFile(self.file(hash).path, O_RDONLY)
        } catch let error as PosixError where error.code == ENOENT {
            return false
        } catch let error as PosixError where error.code == ELOOP {
            // The store does not follow a link, and the link is in the way of the file.
            return true
        } catch {
            throw RecordStoreError(.unreadableFile, "the file \(hash) cannot be read: \(error)")
        }
        return (try? Self.hash(of: file)) != hash
    }

    /// Reads a whole file, in the directory or elsewhere, and computes its hash.
    ///
    /// - Returns: nil when the file is missing, is a link or cannot be read.
    public static func hash(ofFile file: URL) -> AssetHash? {
        (try? PosixFile(file.path, O_RDONLY)).flatMap { try? hash(of: $0) }
    }

    static func hash(of file: PosixFile) throws -> AssetHash {
        var hasher = AssetHasher()
        while true {
            let part = try file.read(at: hasher.count, upTo: bufferSize)
            guard !part.isEmpty else { return hasher.finish() }
            part.withUnsafeBytes { hasher.update($0) }
        }
    }
}
