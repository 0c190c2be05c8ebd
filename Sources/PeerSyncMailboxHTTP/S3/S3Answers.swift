#if WebStorage
    import PeerSyncMailbox

    /// One page of a list of objects (the S3 API's ListObjectsV2).
    struct S3Listing: Decodable, Sendable {
        struct Object: Decodable, Sendable, Equatable {
            let key: String
            let size: Int64

            private enum CodingKeys: String, CodingKey {
                case key = "Key"
                case size = "Size"
            }
        }

        let objects: [Object]
        /// What to ask for the next page with; nil on the last one.
        let next: String?

        /// - Throws: ``/PeerSyncMailbox/MailboxError`` `invalid` if this is no such answer.
        init(_ bytes: [UInt8]) throws {
            let content = try WebXML.decode(Content.self, bytes, root: "ListBucketResult")
            objects = content.objects
            next = content.isTruncated ? content.next : nil
            guard !content.isTruncated || next?.isEmpty == false else {
                throw MailboxError(.invalid, "the list of the server breaks off")
            }
        }

        private struct Content: Decodable {
            let objects: [Object]
            let isTruncated: Bool
            let next: String?

            enum CodingKeys: String, CodingKey {
                case objects = "Contents"
                case isTruncated = "IsTruncated"
                case next = "NextContinuationToken"
            }
        }
    }

    /// An error as the S3 API answers with it.
    struct S3Error: Decodable, Sendable {
        let code: String
        /// The region of the bucket, when the signature names another one.
        let region: String?
        /// Where the bucket is, when it is not here.
        let endpoint: String?

        /// - Returns: nil if this is no such answer, as one of a proxy.
        init?(_ bytes: [UInt8]) {
            guard let error = try? WebXML.decode(Self.self, bytes, root: "Error") else { return nil }
            self = error
        }

        private enum CodingKeys: String, CodingKey {
            case code = "Code"
            case region = "Region"
            case endpoint = "Endpoint"
        }
    }
#endif
