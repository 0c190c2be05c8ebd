import Foundation

/// A form with files that a browser sent. The files are gone when whoever took the form is done with it.
struct UploadedForm: Sendable, Equatable {
    /// A file of a form.
    struct File: Sendable, Equatable {
        /// The name of the field.
        let field: String
        /// The name that the file has where it comes from, without folders, for people; see ``safeName(_:)``.
        let name: String
        /// What the browser says that it is. Nothing may rely on it.
        let contentType: String?
        /// In bytes.
        let size: Int
        /// Where it is for the moment. The path has nothing of the name.
        let path: String

        /// Returns where a file of this name is in a folder.
        ///
        /// - Throws: ``PageError`` if the name leads elsewhere. No name that ``UploadedForm/safeName(_:)`` returns does.
        func place(in folder: URL) throws -> URL {
            let place = folder.appendingPathComponent(name, isDirectory: false)
            let separators: [UInt8] = [0, UInt8(ascii: "/"), UInt8(ascii: "\\")]
            guard !["", ".", ".."].contains(name), !name.utf8.contains(where: separators.contains),
                place.deletingLastPathComponent().path == folder.path
            else { throw PageError(.unprocessableContent, "No picture can have such a name.") }
            return place
        }
    }

    /// The texts by the name of the field; of a field that is there twice the last one.
    var texts: [String: String] = [:]
    /// The files in their order, without those that nobody chose.
    var files: [File] = []

    /// Returns the first file of a field; nil if nobody chose one.
    func file(_ field: String) -> File? { files.first { $0.field == field } }

    /// The maximum number of bytes of a name: file systems take 255.
    private static let maximumName = 200
    /// The maximum number of bytes of an extension, with its point. What is longer is none.
    private static let maximumExtension = 20

    /// Returns the last part of a file name that a browser gave: no folders, no control characters, at most 200 bytes of UTF-8.
    ///
    /// Goes by scalars, as file systems do: a mark behind a slash makes one `Character` with it.
    static func safeName(_ text: String) -> String {
        let printable: [Unicode.Scalar] = text.unicodeScalars.filter {
            ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
        }
        let last = printable.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? []
        let name = shortened(String(String.UnicodeScalarView(last)).trimmingCharacters(in: .whitespaces))
        return name.unicodeScalars.allSatisfy { $0 == "." } ? "file" : name
    }

    /// Cuts a name that is too long, at a character and before its extension.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > maximumName else { return name }
        let point = name.lastIndex(of: ".") ?? name.endIndex
        let end = name[point...].utf8.count > maximumExtension ? "" : name[point...]
        var stem = ""
        for character in name.dropLast(end.count) {
            guard stem.utf8.count + character.utf8.count + end.utf8.count <= maximumName else { break }
            stem.append(character)
        }
        return (stem.isEmpty ? "file" : stem) + end
    }
}
