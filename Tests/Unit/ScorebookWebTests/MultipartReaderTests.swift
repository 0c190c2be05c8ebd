import Foundation
import NIOCore
import TestSupport
import Testing

@testable import ScorebookWeb

/// Forms with files, as browsers send them, and as nobody should.
struct MultipartReaderTests {
    private static let boundary = "----Boundary7MA4YWxk"

    /// A part as a browser writes it.
    private static func part(_ disposition: String, _ content: String, type: String? = nil) -> String {
        "--\(boundary)\r\nContent-Disposition: form-data; \(disposition)\r\n"
            + (type.map { "Content-Type: \($0)\r\n" } ?? "") + "\r\n\(content)\r\n"
    }

    private static let end = "--\(boundary)--\r\n"

    @Test func aFileForWhichThereIsNoRoomIsTold() async throws {
        let form = Self.part("name=\"picture\"; filename=\"a.jpg\"", "x", type: "image/jpeg") + Self.end
        let (body, writer) = AsyncStream<ByteBuffer>.makeStream()
        writer.yield(ByteBuffer(string: form))
        writer.finish()
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        await #expect(throws: MultipartError.cannotStore) {
            try await MultipartReader.read(
                body, boundary: Self.boundary, into: directory, limit: 100_000)
        }
    }

    /// Reads a form that comes in pieces of a size, and returns it with the content of its files.
    private func read(_ bytes: [UInt8], pieces: Int = 1000, limit: Int = 100_000) async throws -> (
        form: UploadedForm, contents: [[UInt8]]
    ) {
        try await withTemporaryDirectory { directory in
            let (body, writer) = AsyncStream<ByteBuffer>.makeStream()
            for start in stride(from: 0, to: bytes.count, by: pieces) {
                writer.yield(ByteBuffer(bytes: bytes[start..<min(start + pieces, bytes.count)]))
            }
            writer.finish()
            let form = try await MultipartReader.read(
                body, boundary: Self.boundary, into: directory, limit: limit)
            let inside = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            for file in form.files {
                #expect(inside.contains(URL(fileURLWithPath: file.path).lastPathComponent))
                #expect(URL(fileURLWithPath: file.path).deletingLastPathComponent().path == directory.path)
            }
            return (form, try form.files.map { Array(try Data(contentsOf: URL(fileURLWithPath: $0.path))) })
        }
    }

    private func error(_ text: String, limit: Int = 100_000) async -> MultipartError? {
        do {
            _ = try await read(Array(text.utf8), limit: limit)
            return nil
        } catch {
            return error as? MultipartError
        }
    }

    @Test(arguments: [1, 2, 3, 7, 22, 23, 24, 1000])
    func aFormIsTheSameInPiecesOfEverySize(pieces: Int) async throws {
        // Almost a boundary, over and over.
        let tricky = "\r\n--\(Self.boundary.dropLast())\r\r\n-\r\n--" + String(repeating: "\r\n", count: 5)
        let text =
            Self.part("name=\"note\"", "Grüße, 🎲") + Self.part("name=\"empty\"", "")
            + Self.part("name=\"file\"; filename=\"a.json\"", tricky, type: "application/json")
            + Self.part("name=\"file\"; filename=\"b.bin\"", "") + Self.end
        let (form, contents) = try await read(Array(text.utf8), pieces: pieces)
        #expect(form.texts == ["note": "Grüße, 🎲", "empty": ""])
        #expect(form.files.map(\.name) == ["a.json", "b.bin"])
        #expect(form.files.map(\.contentType) == ["application/json", nil])
        #expect(form.files.map(\.size) == [tricky.utf8.count, 0])
        #expect(contents == [Array(tricky.utf8), []])
    }

    @Test func bytesOfAFileStayAsTheyAre() async throws {
        let content = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 256) }
        let bytes =
            Array(
                "--\(Self.boundary)\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n"
                    .utf8)
            + content + Array("\r\n\(Self.end)".utf8)
        #expect(try await read(bytes).contents == [content])
    }

    @Test func aFieldInWhichNobodyChoseAFileHasNone() async throws {
        let text =
            Self.part("name=\"file\"; filename=\"\"", "", type: "application/octet-stream") + Self.end
        let form = try await read(Array(text.utf8)).form
        #expect(form.files.isEmpty)
        #expect(form.file("file") == nil)
    }

    @Test func whatFollowsTheEndDoesNotCount() async throws {
        let text = Self.part("name=\"a\"", "1") + Self.end + Self.part("name=\"a\"", "2")
        #expect(try await read(Array(text.utf8)).form.texts == ["a": "1"])
    }

    @Test(arguments: [
        ("photo.jpg", "photo.jpg"), ("../../etc/passwd", "passwd"), ("C:\\Users\\ada\\a b.json", "a b.json"),
        ("/", "file"), ("..", "file"), ("", "file"), ("a\u{0}b\r\n\u{202E}c.png", "abc.png"), (" x ", "x"),
        ("Grüße 🎲.json", "Grüße 🎲.json"),
        // Letters that join a slash, or that are taken out.
        ("../\u{200D}../\u{200D}tmp/\u{200D}x.sh", "x.sh"), ("a/\u{301}b.png", "\u{301}b.png"),
        ("\u{0D4E}/x.png", "x.png"), ("a\\\u{301}b.png", "\u{301}b.png"), (".\u{200D}.", "file"),
    ])
    func aFileNameLeadsNowhere(given: String, safe: String) {
        #expect(UploadedForm.safeName(given) == safe)
    }

    @Test(arguments: ["", ".", "..", "a/b", "../b", "a/\u{301}b", "a\\\u{301}b", "a\u{0}b"])
    func aNameThatLeadsElsewhereHasNoPlaceInAFolder(name: String) throws {
        let folder = URL(fileURLWithPath: "/tmp/a.named")
        func file(_ name: String) -> UploadedForm.File {
            UploadedForm.File(field: "picture", name: name, contentType: nil, size: 1, path: "/tmp/a")
        }
        #expect(throws: PageError.self) { try file(name).place(in: folder) }
        #expect(try file("Grüße 🎲.png").place(in: folder).path == "/tmp/a.named/Grüße 🎲.png")
    }

    /// File systems count bytes, and a picture is told by its extension.
    @Test(arguments: [
        (String(repeating: "x", count: 5000), String(repeating: "x", count: 200)),
        (String(repeating: "桌", count: 100) + ".jpg", String(repeating: "桌", count: 65) + ".jpg"),
        (
            String(repeating: "a.b", count: 100) + "." + String(repeating: "c", count: 50),
            String(repeating: "a.b", count: 66) + "a."
        ),
        ("e" + String(repeating: "\u{301}", count: 200) + ".png", "file.png"),
        (String(repeating: ".", count: 300), "file"),
    ])
    func aLongFileNameIsCutBeforeItsExtension(given: String, cut: String) {
        #expect(UploadedForm.safeName(given) == cut)
    }

    @Test func namesAreReadAsBrowsersAndOtherProgramsWriteThem() async throws {
        for (written, name) in [
            ("filename=\"a%22b.json\"", "a\"b.json"), ("filename=\"a\\\"b.json\"", "a\"b.json"),
            ("filename=plain.json", "plain.json"), ("FileName=\"a;b=c.json\"", "a;b=c.json"),
            ("filename=\"../x/evil.json\"", "evil.json"), ("filename=\"\u{301}a.json\"", "\u{301}a.json"),
            ("filename=\"a\u{0D4E}\"; x=\"y\"", "a\u{0D4E}"),
        ] {
            let text = Self.part("name=\"file\"; \(written)", "{}") + Self.end
            #expect(try await read(Array(text.utf8)).form.file("file")?.name == name, "\(written)")
        }
    }

    @Test func malformedFormsAreRefused() async {
        let good = Self.part("name=\"file\"; filename=\"a\"", "content") + Self.end
        for count in [0, 1, 10, 30, 100, good.utf8.count - 10] {
            #expect(await error(String(good.prefix(count))) == .incomplete, "cut off after \(count) bytes")
        }
        #expect(await error("hello" + good) == .malformed("it does not begin with its boundary"))
        #expect(await error("--\(Self.boundary)x\r\n") == .malformed("a boundary does not end its line"))
        #expect(
            await error("--\(Self.boundary)\r\n\r\ntext\r\n\(Self.end)")
                == .malformed("a part does not name its field"))
        #expect(
            await error("--\(Self.boundary)\r\nnonsense\r\n\r\n\r\n\(Self.end)")
                == .malformed("a head has a line without a colon"))
        #expect(
            await error(Self.part("filename=\"a\"", "") + Self.end)
                == .malformed("a part does not name its field"))
        #expect(
            await error(
                "--\(Self.boundary)\r\nContent-Disposition: form-data; name=\"a\"\r\n"
                    + "content-disposition: form-data; name=\"b\"\r\n\r\n\r\n\(Self.end)")
                == .malformed("a head says content-disposition twice"))
    }

    @Test func everythingHasALimit() async {
        let long = String(repeating: "x", count: MultipartParser.maximumHead + 1)
        #expect(await error(Self.part("name=\"\(long)\"", "") + Self.end) == .headTooLarge)
        #expect(await error("--\(Self.boundary)\r\n\(long)") == .headTooLarge)
        let text = String(repeating: "x", count: MultipartReader.maximumText + 1)
        #expect(await error(Self.part("name=\"a\"", text) + Self.end) == .textTooLarge)
        let many = String(repeating: Self.part("name=\"a\"", ""), count: MultipartParser.maximumParts + 1)
        #expect(await error(many + Self.end) == .tooManyParts)
        let file = Self.part("name=\"a\"; filename=\"a\"", text) + Self.end
        #expect(await error(file, limit: file.utf8.count) == nil)
        #expect(await error(file, limit: file.utf8.count - 1) == .tooLarge(limit: file.utf8.count - 1))
    }

    @Test func aTextHasToBeInUTF8() async {
        let bytes =
            Array("--\(Self.boundary)\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n".utf8) + [
                0xFF, 0xFE,
            ]
            + Array("\r\n\(Self.end)".utf8)
        await #expect(throws: MultipartError.malformed("a text is not in UTF-8")) { try await read(bytes) }
    }

    @Test func theBoundaryIsInTheContentType() throws {
        for type in [
            "multipart/form-data; boundary=abc", "Multipart/Form-Data; charset=utf-8; Boundary=\"abc\"",
            "multipart/form-data;boundary=abc;x=y",
        ] {
            #expect(try MultipartHead.boundary(contentType: type) == "abc", "\(type)")
        }
        for type in [
            nil, "", "multipart/form-data", "multipart/form-data; boundary=", "text/html; boundary=abc",
            "multipart/form-data; boundary=\(String(repeating: "x", count: 71))",
            "multipart/form-data; boundary=\"a\nb\"", "multipart/mixed; boundary=abc",
        ] {
            #expect(throws: MultipartError.noForm, "\(type ?? "none")") {
                try MultipartHead.boundary(contentType: type)
            }
        }
    }
}
