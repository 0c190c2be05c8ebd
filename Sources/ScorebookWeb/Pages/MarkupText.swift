import Mustache

/// Text within HTML and SVG, in which it can be nothing but text.
struct MarkupText: MustacheContentType {
    /// The line with which each template begins: what Mustache does by itself goes by `Character`.
    static let pragma = "{{% CONTENT_TYPE: MARKUP }}\n"

    /// Makes the pragma known to the parser of templates.
    static func register() { MustacheContentTypes.register(MarkupText(), named: "MARKUP") }

    func escapeText(_ text: String) -> String { Self.escaped(text) }

    /// Returns a text for a place between tags, or between the quotation marks of an attribute.
    ///
    /// Goes by bytes, as browsers do. A letter such as U+0D4E joins what follows it, and a mark such as U+0301 what stands before
    /// it: then `<` is only a part of a `Character`, which no comparison finds.
    static func escaped(_ text: String) -> String {
        var safe: [UInt8] = []
        safe.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): safe += "&amp;".utf8
            case UInt8(ascii: "<"): safe += "&lt;".utf8
            case UInt8(ascii: ">"): safe += "&gt;".utf8
            case UInt8(ascii: "\""): safe += "&quot;".utf8
            case UInt8(ascii: "'"): safe += "&#39;".utf8
            default: safe.append(byte)
            }
        }
        return String(decoding: safe, as: UTF8.self)
    }
}
