import Foundation
import PeerSyncModel
import TestSupport

/// Inputs to begin with: what stands in the vectors, and what was found before.
package enum FuzzSeeds {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    /// The inputs that the fuzzer found something with. Each file names its entry and tells what it was.
    package static func found() throws -> [(name: String, entry: FuzzEntry, bytes: [UInt8])] {
        struct Found: Decodable {
            let description: String
            let entry: String
            let input: String
        }
        return try files(folder.appending(path: "Found")).map { file in
            let found = try JSONDecoder().decode(Found.self, from: Data(contentsOf: file))
            guard let entry = FuzzEntry(rawValue: found.entry), let bytes = [UInt8](hexadecimal: found.input)
            else { throw CocoaError(.fileReadCorruptFile) }
            return (file.lastPathComponent, entry, bytes)
        }
    }

    /// Every byte string of every file of vectors, once.
    package static func vectors() throws -> [[UInt8]] {
        var strings: Set<[UInt8]> = []
        for file in try files(Repository.vectors) {
            collect(try JSONSerialization.jsonObject(with: Data(contentsOf: file)), &strings)
        }
        return strings.sorted { ($0.count, $0.hexadecimal) < ($1.count, $1.hexadecimal) }
    }

    /// The seeds of an entry: each byte string as input of each of its modes, and a few that no vector has.
    ///
    /// To the handshake and the session most of them are no more than a script that something made up, so each is given
    /// to one mode only.
    package static func seeds(of entry: FuzzEntry) throws -> [[UInt8]] {
        let isOneEnough = entry == .handshake || entry == .session
        var seeds: [[UInt8]] = []
        for (number, string) in try (own + vectors()).enumerated() {
            for mode in 0..<entry.modes where !isOneEnough || mode == number % entry.modes {
                seeds.append([UInt8(mode)] + prefix(entry, mode) + string)
            }
        }
        let found = try found().filter { $0.entry == entry }.map(\.bytes)
        return (found + seeds).map { Array($0.prefix(entry.maximumLength)) }
    }

    /// What stands between the mode and the bytes themselves, so that these are taken as a whole.
    private static func prefix(_ entry: FuzzEntry, _ mode: Int) -> [UInt8] {
        switch (entry, mode) {
        // Without frames of the handshake, and without cuts; in one frame, within the greater limit.
        case (.frames, 0): [0, 0]
        case (.frames, 1): [1, 0, 0]
        case (.frames, 2): [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 1]
        case (.messages, 2): [0, 0, 0, 0, 0, 1, 0, 0]
        // With 200 items, and no limit.
        case (.negentropy, _): [4, 2]
        default: []
        }
    }

    private static let own: [[UInt8]] = [
        [], [0], Array(repeating: 0, count: 64), Array(0...255),
        Array("2015-11-25T10:00:00.250Z".utf8), Array("0000-02-29T23:59:59Z".utf8),
        Array("SBGame|~|0192f0c1-7a51-7cc2-9a5e-6d1b7a52e1b4".utf8),
        Array(
            "{\"hash\":\"\(String(repeating: "0f", count: 32))\",\"name\":\"a\\\"b.jpg\",\"size\":1,\"type\":\"image/jpeg\"}"
                .utf8),
        // A message of Negentropy: everything up to infinity is a list of no ids.
        [0x61, 0, 0, 2, 0],
        // The same with a fingerprint, and with ids.
        [0x61, 0, 0, 1] + Array(repeating: 7, count: 16),
        [0x61, 2, 1, 9, 2, 1] + Array(repeating: 9, count: 32),
    ]

    /// Writes the seeds of an entry into a folder, a file each.
    package static func write(_ entry: FuzzEntry, to path: String) throws {
        let folder = URL(filePath: path)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (number, seed) in try seeds(of: entry).enumerated() {
            try Data(seed).write(to: folder.appending(path: "seed-\(number)"))
        }
    }

    private static func files(_ folder: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }
    }

    private static func collect(_ value: Any, _ strings: inout Set<[UInt8]>) {
        switch value {
        case let object as [String: Any]: for value in object.values { collect(value, &strings) }
        case let array as [Any]: for value in array { collect(value, &strings) }
        case let text as String:
            if !text.isEmpty, let bytes = [UInt8](hexadecimal: text) { strings.insert(bytes) }
        default: break
        }
    }
}
