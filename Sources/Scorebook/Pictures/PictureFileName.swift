import PeerSync

/// File names for pictures that leave a scorebook.
///
/// The names of pictures come from other machines. So no file name may lead out of a directory, hide the file, steer a
/// terminal, or make the file look like anything but a picture.
enum PictureFileName {
    /// File name extensions by media type. New file names get the first.
    private static let extensions = [
        "image/jpeg": ["jpg", "jpeg", "jpe", "jfif"], "image/png": ["png"], "image/gif": ["gif"],
        "image/webp": ["webp"], "image/tiff": ["tiff", "tif"], "image/heic": ["heic"],
        "image/heif": ["heif", "hif"], "image/avif": ["avif"],
    ]
    private static let known = Set(extensions.values.joined())

    /// Returns the extension, without a dot; `bin` for media types that are no pictures.
    static func fileExtension(_ mediaType: String) -> String {
        extensions[mediaType]?.first ?? "bin"
    }

    /// Returns a file name from the picture's own name; from that of its record if it has none.
    static func name(_ asset: Asset, _ record: RecordName) -> String {
        let name = [asset.name, String(record.suffix)].lazy.map(harmless).first { !$0.isEmpty }
        return completed(name ?? asset.hash.description, fileExtension(asset.mediaType))
    }

    /// Returns the nearest text that can be a file name; empty if nothing is left.
    private static func harmless(_ text: String) -> String {
        let visible = Display.printable(Asset.name(from: text)).filter { $0 != "\u{FFFD}" }
        return String(visible.unicodeScalars.drop { $0 == "." || $0.properties.isWhitespace }).trimmed
    }

    /// Adds the extension to a name that does not end with one of a picture.
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
    /// The name of its file outside of the scorebook: its own name, or that of its record, always with an extension;
    /// nil if there is no picture.
    public var fileName: String? {
        image.map { PictureFileName.name($0, recordName) }
    }
}
