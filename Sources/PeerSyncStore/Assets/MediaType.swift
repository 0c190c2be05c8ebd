import PeerSyncModel

/// Media types of images, which it tells by their first bytes.
public enum MediaType {
    /// The number of first bytes that it needs.
    public static let signatureLength = 16
    /// The type of a file that it does not recognize.
    public static let unknown = "application/octet-stream"

    /// The type of an image that begins with these bytes; nil when it does not recognize them.
    public static func recognized(_ bytes: some Sequence<UInt8>) -> String? {
        let start = Array(bytes.prefix(signatureLength))
        for (type, offset, signature) in signatures
        where start.dropFirst(offset).starts(with: signature) {
            return type
        }
        // ISO base media files begin with a box `ftyp`, which names the brand of the content.
        guard start.count >= 12, start[4..<8].elementsEqual("ftyp".utf8) else { return nil }
        return brands[String(decoding: start[8..<12], as: UTF8.self)]
    }

    private static let signatures: [(String, Int, [UInt8])] = [
        ("image/jpeg", 0, [0xFF, 0xD8, 0xFF]),
        ("image/png", 0, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
        ("image/gif", 0, Array("GIF87a".utf8)),
        ("image/gif", 0, Array("GIF89a".utf8)),
        ("image/webp", 8, Array("WEBP".utf8)),
        ("image/tiff", 0, [0x49, 0x49, 0x2A, 0x00]),
        ("image/tiff", 0, [0x4D, 0x4D, 0x00, 0x2A]),
    ]

    private static let brands = [
        "heic": "image/heic", "heix": "image/heic", "mif1": "image/heif", "msf1": "image/heif",
        "avif": "image/avif",
    ]
}

extension Asset {
    /// Describes bytes without a file of their own.
    init(describing bytes: [UInt8]) {
        var hasher = AssetHasher()
        bytes.withUnsafeBytes { hasher.update($0) }
        self.init(
            hash: hasher.finish(), size: Int64(bytes.count),
            mediaType: MediaType.recognized(bytes) ?? MediaType.unknown, name: "")!
    }
}
