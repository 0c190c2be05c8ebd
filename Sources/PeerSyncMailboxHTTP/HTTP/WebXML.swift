#if WebStorage
    import Foundation
    import PeerSyncMailbox
    import XMLCoder

    /// Reads the XML that servers answer with.
    enum WebXML {
        /// Reads a document.
        ///
        /// - Parameter root: the name of the element that it must be, without its namespace. The decoder looks at no name, and takes a page of
        ///   a guest network for an empty list.
        /// - Throws: ``/PeerSyncMailbox/MailboxError`` `invalid`.
        static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8], root: String) throws -> Value {
            guard Self.root(bytes) == root else {
                throw MailboxError(.invalid, "the server answers with something else than was asked for")
            }
            let decoder = XMLDecoder()
            decoder.shouldProcessNamespaces = true
            do {
                return try decoder.decode(type, from: Data(bytes))
            } catch {
                throw MailboxError(.invalid, "the answer of the server cannot be read", underlying: error)
            }
        }

        /// The name of the first element, without its namespace.
        ///
        /// - Returns: nil also for a document with declarations of its own: they can make a small document large, and a server of WebDAV or
        ///   of the S3 API has none.
        static func root(_ bytes: [UInt8]) -> String? {
            var rest = Substring(decoding: bytes.prefix(2000), as: UTF8.self)
            while true {
                rest = rest.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
                guard let end = rest.hasPrefix("<?") ? "?>" : rest.hasPrefix("<!--") ? "-->" : nil else { break }
                guard let range = rest.firstRange(of: end) else { return nil }
                rest = rest[range.upperBound...]
            }
            return rest.prefixMatch(of: /<(?:[A-Za-z0-9_.\-]+:)?([A-Za-z0-9_.\-]+)/).map { String($0.output.1) }
        }
    }
#endif
