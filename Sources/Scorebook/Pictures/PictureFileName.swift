import RecordStore
import SyncModel

/// Names of files for pictures that are taken out of a scorebook.
///
/// What a picture is called comes from other machines. No name leads out of a directory, hides the file, steers a
/// terminal, or makes the file look like anything but a picture.
enum PictureFileName {
    /// File name extensions by media type; the first is the one that is given.
    private static let extensions = [
        "image/jpeg": ["jpg", "jpeg", "jpe", "jfif"], "image/png": ["png"], "image/gif": ["gif"],
        "image/webp": ["webp"], "image/tiff": ["tiff", "tif"], "image/heic": ["heic"],
        "image/heif": ["heif", "hif"], "image/avif": ["avif"],
    ]
    private static let known = Set(extensions.values.joined())

    /// Without a dot; `bin` for media types that are no pictures.
    static func fileExtension(_ mediaType: String) -> String {
        extensions[mediaType]?.first ?? "bin"
    }

    /// The picture's own name; that of its record where it has none.
    static func name(_ asset: Asset, _ record: RecordName) -> String {
        let name = [asset.name, String(record.suffix)].lazy.map(harmless).first { !$0.isEmpty }
        return completed(name ?? asset.hash.description, fileExtension(asset.mediaType))
    }

    /// The nearest text that can be a file's name; empty when nothing is left.
    private static func harmless(_ text: String) -> String {
        let visible = Display.printable(Asset.name(from: text)).filter { $0 != "\u{FFFD}" }
        return String(visible.drop { $0 == "." || $0.isWhitespace }).trimmed
    }

    /// Puts the extension behind a name that has none of a picture.
    private static func completed(_ name: String, _ fileExtension: String) -> String {
        if let dot = name.lastIndex(of: "."), known.contains(name[name.index(after: dot)...].lowercased()) {
            return name
        }
        var stem = name
        while stem.utf8.count + 1 + fileExtension.utf8.count > Asset.maximumNameLength { stem.removeLast() }
        return "\(stem).\(fileExtension)"
    }
}

extension Picture {
    /// What its file is called outside of the scorebook: its own name, or that of its record, always with the extension
    /// of a picture; nil when there is no picture.
    public var fileName: String? {
        image.map { PictureFileName.name($0, recordName) }
    }
}
