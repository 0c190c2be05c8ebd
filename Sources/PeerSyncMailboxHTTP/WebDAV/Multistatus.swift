#if WebStorage
    import Foundation
    import PeerSyncMailbox
    import XMLCoder

    /// A server's answer to PROPFIND (RFC 4918, section 9.1).
    struct Multistatus: Sendable {
        /// What is asked for each file: little, so that long lists stay short.
        static let question = """
            <?xml version="1.0" encoding="utf-8"?>
            <propfind xmlns="DAV:"><prop><getcontentlength/><getlastmodified/><resourcetype/></prop></propfind>
            """

        /// A file or a folder in the list. The folder that was asked about is one of them.
        struct Entry: Sendable, Equatable {
            /// The last part of the path.
            let name: String
            let isFolder: Bool
            /// The number of bytes; nil if the server does not say.
            let size: Int64?
            /// By the server's clock; nil if it does not say.
            let modified: Date?
        }

        let entries: [Entry]

        /// - Throws: ``/PeerSyncMailbox/MailboxError`` `invalid` if this is no such answer.
        init(_ bytes: [UInt8]) throws {
            entries = try WebXML.decode(Content.self, bytes, root: "multistatus").response.compactMap(\.entry)
        }

        // MARK: As it is written

        private struct Content: Decodable {
            var response: [Response]
        }

        private struct Response: Decodable {
            var href: String
            var propstat: [PropertyStatus]

            var entry: Entry? {
                // A path, or a whole address.
                guard let path = URLComponents(string: href.trimmingCharacters(in: .whitespacesAndNewlines))?.path,
                    let name = path.split(separator: "/").last
                else { return nil }
                let properties = propstat.filter { $0.status.contains(" 200") }.map(\.prop)
                return Entry(
                    name: String(name), isFolder: properties.contains { $0.resourcetype?.collection != nil },
                    size: properties.lazy.compactMap { $0.getcontentlength.flatMap { Int64($0) } }.first,
                    modified: properties.lazy.compactMap { $0.getlastmodified.flatMap(WebAnswer.date) }.first)
            }
        }

        private struct PropertyStatus: Decodable {
            var prop: Property
            var status: String
        }

        private struct Property: Decodable {
            // Texts, because a server answers with an empty element for a folder.
            var getcontentlength: String?
            var getlastmodified: String?
            var resourcetype: ResourceType?
        }

        private struct ResourceType: Decodable {
            struct Collection: Decodable {}
            var collection: Collection?
        }
    }
#endif
