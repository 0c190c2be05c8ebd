import Foundation
import NIOPosix
import PeerSync

/// Small forms of pictures for lists, made by `vipsthumbnail` of libvips, which turns them the right way up.
///
/// Pictures come from other machines and from phones. So a program of its own decodes them, and not the one that has the scorebook's
/// keys. The small forms are in a directory beside the pictures. Whoever deletes it loses nothing.
actor Thumbnails {
    /// The length of the longer side in pixels.
    private static let side = 480
    /// The maximum number of small forms. The oldest ones go.
    private static let maximumCount = 4000
    /// How many are made at a time.
    private static let maximumRunning = 2
    /// A picture that takes longer has none.
    private static let patience: Duration = .seconds(20)
    /// How long a picture of which the program made none is shown itself. Then it is tried again: memory, time or room may have been short.
    private static let pause: Duration = .seconds(600)
    /// The maximum size of the program's memory, in KiB. The pictures of telephones, with up to 108 megapixels, take less.
    private static let maximumMemory = 1 << 20
    /// The maximum size of a small form, in units of 512 bytes.
    private static let maximumFile = 65_536
    /// Begins the program within these bounds. The shell of macOS knows no bound for memory.
    private static let bounds =
        "ulimit -v \(maximumMemory) 2>/dev/null; ulimit -f \(maximumFile); exec \"$0\" \"$@\""

    private let assets: AssetDirectory
    private let directory: URL
    private let now: @Sendable () -> ContinuousClock.Instant
    /// nil where it is not installed.
    private let program: URL?
    private var running: [AssetHash: Task<URL?, Never>] = [:]
    /// When the program failed at a whole picture.
    private var failed: [AssetHash: ContinuousClock.Instant] = [:]
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var free = Thumbnails.maximumRunning

    /// - Parameter path: where to look for the program, as in `PATH`.
    init(
        _ assets: AssetDirectory, path: String? = ProcessInfo.processInfo.environment["PATH"],
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.assets = assets
        self.now = now
        directory = assets.url.deletingLastPathComponent().appendingPathComponent(
            "thumbnails", isDirectory: true)
        program = (path ?? "").split(separator: ":")
            .map { URL(fileURLWithPath: String($0)).appendingPathComponent("vipsthumbnail") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Returns the small form of a picture that is on this machine; nil if there can be none.
    func file(_ hash: AssetHash) async -> URL? {
        let target = directory.appendingPathComponent("\(hash).jpg")
        guard FileManager.default.fileExists(atPath: assets.file(hash).path) else {
            // Nothing is to be left of a picture that is gone.
            try? FileManager.default.removeItem(at: target)
            return nil
        }
        if FileManager.default.fileExists(atPath: target.path) { return target }
        guard let program, failed[hash].map({ now() - $0 >= Self.pause }) ?? true else { return nil }
        if let task = running[hash] { return await task.value }
        let task = Task { await make(hash, at: target, with: program) }
        running[hash] = task
        let file = await task.value
        running[hash] = nil
        return file
    }

    private func make(_ hash: AssetHash, at target: URL, with program: URL) async -> URL? {
        await enter()
        defer { leave() }
        let unfinished = directory.appendingPathComponent("\(UUID().uuidString).jpg")
        do {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            // Browsers keep the small form, also when a damaged picture has been mended.
            let isIntact = try await NIOThreadPool.singleton.runIfActive { [assets] in assets.isIntact(hash) }
            guard isIntact else { throw CocoaError(.fileNoSuchFile) }
            guard try await run(program, assets.file(hash), unfinished) else {
                failed[hash] = now()
                throw CocoaError(.fileNoSuchFile)
            }
            try FileManager.default.moveItem(at: unfinished, to: target)
        } catch {
            try? FileManager.default.removeItem(at: unfinished)
            return nil
        }
        removeOldest()
        return target
    }

    /// Waits until fewer than the maximum number are made.
    private func enter() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    private func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }

    /// - Returns: whether the program made the file.
    private func run(_ program: URL, _ source: URL, _ target: URL) async throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", Self.bounds, program.path, source.path, "--size", "\(Self.side)x\(Self.side)>",
            "--output", "\(target.path)[Q=80,strip,background=255]",
        ]
        // Formats whose decoders nobody has hardened stay out.
        process.environment = [
            "VIPS_BLOCK_UNTRUSTED": "1", "VIPS_CONCURRENCY": "1", "MALLOC_ARENA_MAX": "2", "LC_ALL": "C",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let (ends, end) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in end.finish() }
        try process.run()
        let id = process.processIdentifier
        let limit = Task {
            try await Task.sleep(for: Self.patience)
            kill(id, SIGKILL)
        }
        for await _ in ends {}
        limit.cancel()
        return process.terminationReason == .exit && process.terminationStatus == 0
            && FileManager.default.fileExists(atPath: target.path)
    }

    private func removeOldest() {
        let files =
            (try? FileManager.default.contentsOfDirectory(
                at: directory, includingPropertiesForKeys: [.contentModificationDateKey])) ?? []
        guard files.count > Self.maximumCount else { return }
        func date(_ file: URL) -> Date {
            (try? file.resourceValues(forKeys: [.contentModificationDateKey]))?.contentModificationDate
                ?? .now
        }
        let oldest = files.map { (date($0), $0) }.sorted { $0.0 < $1.0 }
        // A tenth at once, so that the next ones have room without another look.
        for (_, file) in oldest.prefix(files.count - Self.maximumCount * 9 / 10) {
            try? FileManager.default.removeItem(at: file)
        }
    }
}
