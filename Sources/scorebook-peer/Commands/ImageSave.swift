import ArgumentParser
import Foundation
import PeerSync
import Scorebook

extension ImageCommand {
    struct Save: ZonedCommand {
        static let makesStore = false

        static let configuration = CommandConfiguration(
            commandName: "save",
            abstract: "Copy the files of pictures out of the scorebook.",
            discussion: """
                A file gets the picture's own name, or that of its record where it has none. A place without an extension, as \
                --to photos, is a directory; it is made if it is not there. With --to - the picture goes to standard output.
                """)

        @Argument(
            help: """
                The picture: its number in the last list, or its id; or a match for all of its \
                pictures, a person for the avatar, a game for the thumbnail.
                """)
        var image: String

        @Option(
            help: ArgumentHelp(
                "The directory, or the file to write (default: the current directory).",
                valueName: "path"),
            completion: .file())
        var to: String?

        @Flag(help: "Replace files that are there.")
        var force = false

        @OptionGroup var zoneOptions: ZoneOptions
        @OptionGroup var storeOptions: StoreOptions
        @OptionGroup var output: OutputOptions

        func run(_ store: OpenStore) async throws {
            let pictures = try await store.scorebook.findPictures(image).filter { $0.image != nil }
            guard !pictures.isEmpty else { throw Failure(.dataError, "“\(image)” has no picture") }
            if Terminal.isStandardOutput(to) { return try await write(pictures, store) }
            let targets = try targets(pictures)
            if let taken = targets.first(where: { !force && Self.isFile($0) }) {
                let path = Display.printable(taken.relativePath)
                throw Failure(.cannotCreate, "\(path) is there already; --force replaces it")
            }
            try await save(Array(zip(pictures, targets)), store)
        }

        /// Saves the pictures, and fetches missing files. One failure does not stop the others; the first one is
        /// thrown at the end.
        private func save(_ pictures: [(Picture, URL)], _ store: OpenStore) async throws {
            var saved: [Figures] = []
            var failures: [Failure] = []
            for (picture, target) in pictures {
                guard let image = picture.image else { continue }
                do {
                    let file = try await store.fileOrFetch(image)
                    try PictureFile.save(file, to: target, replaces: force, sparing: store.files)
                    saved.append(
                        Figures(
                            recordName: picture.recordName, path: target.path, bytes: image.size,
                            type: image.mediaType))
                    if !output.json {
                        Terminal.write(
                            "saved \(Display.printable(target.relativePath)) (\(image.size.byteCount))")
                    }
                } catch {
                    failures.append(Failure(error))
                }
            }
            if output.json, failures.isEmpty || !saved.isEmpty { try Terminal.write(json: saved) }
            guard let failure = failures.first else { return }
            let more =
                failures.count > 1
                ? "; \((failures.count - 1).counted("other")) could not be saved either" : ""
            throw Failure(failure.code, failure.message + more)
        }

        private struct Figures: Encodable {
            let recordName: RecordName
            let path: String
            let bytes: Int64
            let type: String
        }

        private func write(_ pictures: [Picture], _ store: OpenStore) async throws {
            guard pictures.count == 1, let image = pictures[0].image else { throw several(pictures.count) }
            try PictureFile.forEachPart(of: try await store.fileOrFetch(image)) { Terminal.write(bytes: $0) }
        }

        private func several(_ count: Int) -> Failure {
            Failure(
                .dataError,
                "“\(image)” has \(count) pictures; give a directory with --to, or the record name of one")
        }

        /// Returns the target of each picture.
        private func targets(_ pictures: [Picture]) throws -> [URL] {
            let path = to ?? "."
            let target = URL(fileURLWithPath: path)
            var isDirectory: ObjCBool = false
            let isThere = FileManager.default.fileExists(atPath: target.path, isDirectory: &isDirectory)
            let isNewDirectory =
                !isThere && !path.isEmpty && (path.hasSuffix("/") || target.pathExtension.isEmpty)
            if isNewDirectory { try Self.makeDirectory(target, path) }
            if isThere ? isDirectory.boolValue : isNewDirectory {
                var taken: Set<String> = []
                return pictures.map { picture in
                    let name = Self.free(picture.fileName ?? "picture", &taken)
                    return to == nil ? URL(fileURLWithPath: name) : target.appendingPathComponent(name)
                }
            }
            guard !path.isEmpty, !path.hasSuffix("/") else {
                throw Failure(.cannotCreate, "there is no directory “\(path)”")
            }
            guard pictures.count == 1 else { throw several(pictures.count) }
            return [target]
        }

        /// Makes a directory in one that is there.
        private static func makeDirectory(_ directory: URL, _ path: String) throws {
            do {
                try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
            } catch {
                throw Failure(.cannotCreate, "the directory “\(path)” cannot be made")
            }
        }

        /// Returns a name that no other picture of this run has, without regard to case.
        private static func free(_ name: String, _ taken: inout Set<String>) -> String {
            let url = URL(fileURLWithPath: "/\(name)")
            var candidate = name
            var number = 2
            while !taken.insert(candidate.lowercased()).inserted {
                candidate = "\(url.deletingPathExtension().lastPathComponent)-\(number).\(url.pathExtension)"
                number += 1
            }
            return candidate
        }

        private static func isFile(_ url: URL) -> Bool {
            var status = stat()
            return stat(url.path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }
    }
}
