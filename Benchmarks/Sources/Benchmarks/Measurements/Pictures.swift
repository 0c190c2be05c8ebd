import Foundation
import GRDB
import PeerSync
import PeerSyncStore

/// Pictures of the sizes that telephones make, sent to a scorebook that has none, over loopback: encrypted, held against
/// their hash on both sides, each made durable.
///
/// Held against what moves the same files without any of that: `tar` through a pipe, and, where it is installed, `rsync`
/// from a daemon of its own over loopback. Both leave the files in the system's memory.
struct Pictures {
    let megabytes: Int

    func run(rounds: Int) async throws -> [Figure] {
        var piped = Figure("kB of \(megabytes) MB of pictures, against tar through a pipe", .perSecond)
        var copied = Figure("kB of \(megabytes) MB of pictures, against rsync over loopback", .perSecond)
        let rsync = Tool.find("rsync")
        for round in 0..<rounds {
            try await withTemporaryDirectory { directory in
                let source = try Household(in: directory, "source")
                let files = try await Self.fill(source, megabytes: megabytes)
                // Whoever comes first takes turns.
                var synced = 0.0
                var baselines: [Double] = []
                for turn in round.isMultiple(of: 2) ? [0, 1] : [1, 0] {
                    if turn == 0 {
                        synced = try await sync(source, files, in: directory)
                    } else {
                        baselines = [try await pipe(files, source, directory)]
                        if let rsync { baselines.append(try await copy(files, source, directory, rsync)) }
                    }
                }
                piped.add(synced, beside: baselines[0])
                if baselines.count > 1 { copied.add(synced, beside: baselines[1]) }
            }
        }
        return rsync == nil ? [piped] : [piped, copied]
    }

    // MARK: Files

    struct Files {
        var count = 0
        var bytes = 0
    }

    /// Pictures of 1.5 to 7 MB, and for each a small one of 8 to 40 kB, until there are enough.
    private static func fill(_ household: Household, megabytes: Int) async throws -> Files {
        var chance = Chance(state: 7)
        // A number at a time would be a call of the system for each eight bytes.
        let noise = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/urandom"))
        var files = Files()
        var rows: [NewRow] = [SimpleRows.game(0), SimpleRows.match(0, game: 0, minutes: 60)]
        let limit = megabytes * 1_000_000
        while files.bytes < limit {
            let sizes = [
                min(1_500_000 + chance.next(5_500_000), limit - files.bytes + 1), 8_000 + chance.next(32_000),
            ]
            for size in sizes {
                let file = household.assets.url.appendingPathExtension("new")
                try (Data([0xFF, 0xD8, 0xFF]) + (noise.read(upToCount: size - 3) ?? Data())).write(to: file)
                let asset = try household.assets.add(file)
                try FileManager.default.removeItem(at: file)
                rows.append(
                    NewRow(
                        "SBMatchImage",
                        [
                            "recordName": SimpleRows.name("SBMatchImage", files.count),
                            "match": SimpleRows.name("SBMatch", 0), "image": asset.json,
                        ]))
                files.count += 1
                files.bytes += size
            }
        }
        let all = rows
        try await household.scorebook.records.write { db in
            for row in all { try row.insert(db) }
        }
        return files
    }

    /// In kilobytes a second, from the first byte of the connection until the receiver has every file under its name.
    private func sync(_ source: Household, _ files: Files, in directory: URL) async throws -> Double {
        let target = try Household(in: directory, "target")
        let server = try await ListeningHousehold(source, name: "source")
        defer { server.end() }
        let client = SyncEngine(
            app: .scorebook, store: target.scorebook.records, identity: target.identity,
            displayName: "target",
            discovery: .off)
        let code = try await server.code()
        return try await speed(of: files.bytes / 1000) {
            let report = try await SyncConnector(client, to: server.address, code: code).syncOnce()
            guard report.statistics.assetsReceived == files.count else {
                throw IncompleteSync(records: report.statistics.assetsReceived)
            }
        }
    }

    private func pipe(_ files: Files, _ source: Household, _ directory: URL) async throws -> Double {
        let target = directory.appendingPathComponent("piped")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        return try await speed(of: files.bytes / 1000) {
            try Tool.run(
                URL(fileURLWithPath: "/bin/sh"),
                [
                    "-c", "tar -C \"$1\" -cf - . | tar -C \"$2\" -xf -", "sh", source.assets.url.path,
                    target.path,
                ])
        }
    }

    private func copy(_ files: Files, _ source: Household, _ directory: URL, _ rsync: URL) async throws
        -> Double
    {
        let target = directory.appendingPathComponent("copied")
        let configuration = directory.appendingPathComponent("rsyncd.conf")
        // Only root may, and has to, say as whom it serves.
        let user = getuid() == 0 ? "uid = 0\ngid = 0" : ""
        try """
        use chroot = no
        \(user)
        [pictures]
        path = \(source.assets.url.path)
        """.write(to: configuration, atomically: true, encoding: .utf8)
        let port = 20_000 + Int.random(in: 0..<20_000)
        let daemon = Process()
        daemon.executableURL = rsync
        daemon.arguments = [
            "--daemon", "--no-detach", "--address=127.0.0.1", "--port=\(port)",
            "--config=\(configuration.path)",
        ]
        try daemon.run()
        defer {
            daemon.terminate()
            daemon.waitUntilExit()
        }
        try await Task.sleep(for: .milliseconds(300))
        return try await speed(of: files.bytes / 1000) {
            try Tool.run(rsync, ["-r", "rsync://127.0.0.1:\(port)/pictures/", target.path])
        }
    }

    // MARK: Records meanwhile

    /// How long a commit takes until it is seen on the other side, with nothing else to do and with pictures under way.
    func runLatency(commits: Int) async throws -> [Figure] {
        try await withTemporaryDirectory { directory in
            let server = try Household(in: directory, "server")
            let client = try Household(in: directory, "client")
            let link = try await LiveLink(from: ListeningHousehold(server, name: "server"), to: client)
            defer { link.end() }
            let programs = (
                writer: try LiveLatency.connection(to: server.database.path),
                reader: try LiveLatency.connection(to: client.database.path)
            )
            var idle: [Double] = []
            for number in 0..<commits {
                try await Task.sleep(for: .milliseconds(10))
                idle.append(try await LiveLatency.synced(1 + number, programs))
            }
            // New pictures as soon as the last ones are through, until there are enough figures.
            var busy: [Double] = []
            while busy.count < commits {
                try await client.scorebook.records.assets.setPolicy(.none)
                for asset in try client.assets.all() { try FileManager.default.removeItem(at: asset) }
                if busy.isEmpty { _ = try await Self.fill(server, megabytes: max(megabytes, 2) * 2) }
                while try await client.scorebook.records.assets.status().referred.files == 0 {
                    try await Task.sleep(for: .milliseconds(10))
                }
                try await client.scorebook.records.assets.setPolicy(.all)
                // At least one a round, however small the pictures are.
                repeat {
                    try await Task.sleep(for: .milliseconds(10))
                    busy.append(try await LiveLatency.synced(1 + commits + busy.count, programs))
                } while try await client.scorebook.records.assets.status().missing.files > 0
                    && busy.count < commits
            }
            return LiveLatency.figures(
                "commit until another program sees it there while pictures are sent, against no pictures",
                busy,
                beside: idle)
        }
    }
}

extension AssetDirectory {
    fileprivate func all() throws -> [URL] {
        guard FileManager.default.fileExists(atPath: url.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.count == 2 }
    }
}

/// Programs of the system.
enum Tool {
    static func find(_ name: String) -> URL? {
        ["/usr/bin", "/bin", "/opt/homebrew/bin", "/usr/local/bin"].map {
            URL(fileURLWithPath: "\($0)/\(name)")
        }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// - Throws: ``Failed`` when it ends with another code than 0.
    static func run(_ program: URL, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(program: program.lastPathComponent) }
    }

    struct Failed: Error {
        let program: String
    }
}
