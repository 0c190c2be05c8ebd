#if WebStorage
    import Foundation
    import NIOHTTP1
    import PeerSyncMailbox

    /// A mailbox in a bucket of a server that speaks the S3 API: a provider of storage, or one's own MinIO, Garage or Ceph.
    ///
    /// It needs the rights to list, read, write and delete the objects of the bucket. The server gives an object its name only when it has
    /// all bytes, and checks them against their hash.
    public final class S3Storage: MailboxStorage {
        /// The bucket.
        public let bucket: S3Bucket

        private let client: WebClient
        private let signature: S3Signature
        private let now: @Sendable () -> Date

        /// The most bytes of a page of a list: the S3 API gives 1,000 objects a page.
        private static let pageSize = 4 << 20
        private static let answerSize = 1 << 20
        /// The most pages of a list. A server that never comes to the end must not keep this machine for ever.
        private static let pages = 1000

        /// Names a bucket. Nothing is sent yet.
        ///
        /// - Parameters:
        ///   - credentials: the access key and the secret key.
        ///   - certificate: a certificate, as PEM, that this machine trusts beside those that its system trusts: that of the server, or
        ///     of the authority that signed it.
        /// - Throws: ``/PeerSyncMailbox/MailboxError`` `invalid` for a certificate that is none.
        public convenience init(
            in bucket: S3Bucket, credentials: WebCredentials, trusting certificate: [UInt8]? = nil
        ) throws {
            self.init(
                in: bucket, credentials: credentials,
                client: try WebClient(bucket.endpoint, trusting: certificate))
        }

        init(
            in bucket: S3Bucket, credentials: WebCredentials, client: WebClient,
            now: @escaping @Sendable () -> Date = { Date() }
        ) {
            self.bucket = bucket
            self.client = client
            self.now = now
            signature = S3Signature(credentials: credentials, region: bucket.region)
        }

        public func put(_ name: MailboxObjectName, _ bytes: [UInt8]) async throws {
            let answer = try await send(.PUT, name, body: bytes)
            guard answer.isSuccess else { throw failure(answer, .write) }
        }

        public func get(_ name: MailboxObjectName) async throws -> [UInt8]? {
            let answer = try await send(.GET, name, upTo: MailboxLimits.objectSize)
            if answer.status == 404, S3Error(answer.body)?.code != "NoSuchBucket" { return nil }
            guard answer.status == 200 else { throw failure(answer, .read) }
            return answer.body
        }

        public func list(_ folder: MailboxFolder) async throws -> [MailboxObject] {
            let prefix = "\(bucket.prefix)\(folder)/"
            var found: [MailboxObject] = []
            var token: String?
            for _ in 0..<Self.pages {
                var query = [(name: "list-type", value: "2"), (name: "prefix", value: prefix)]
                if let token { query.append((name: "continuation-token", value: token)) }
                let answer = try await send(.GET, nil, query: query, upTo: Self.pageSize)
                guard answer.status == 200 else { throw failure(answer, .read) }
                let page = try S3Listing(answer.body)
                found += page.objects.compactMap { object in
                    guard object.key.hasPrefix(prefix),
                        let name = MailboxObjectName(folder, object.key.dropFirst(prefix.count))
                    else { return nil }
                    return MailboxObject(name: name, size: object.size)
                }
                guard let next = page.next else { return found }
                token = next
            }
            throw MailboxError(.invalid, "the list of the server does not end")
        }

        public func delete(_ name: MailboxObjectName) async throws {
            let answer = try await send(.DELETE, name)
            guard answer.isSuccess || answer.status == 404 && S3Error(answer.body)?.code != "NoSuchBucket"
            else {
                throw failure(answer, .write)
            }
        }

        // MARK: Requests

        /// - Parameter name: the object; nil for the bucket.
        private func send(
            _ method: HTTPMethod, _ name: MailboxObjectName?, query: [(name: String, value: String)] = [],
            body: [UInt8]? = nil, upTo limit: Int = answerSize
        ) async throws -> WebAnswer {
            let path =
                "\(bucket.endpoint.path)/\(bucket.name)" + (name.map { "/\(bucket.prefix)\($0)" } ?? "")
            let hash = S3Signature.hash(body ?? [])
            return try await client.send(upTo: limit) { [self] in
                let time = S3Signature.time(now())
                let signed = S3Signature.Request(
                    method: method.rawValue, path: path, query: query,
                    headers: [
                        ("host", bucket.endpoint.authority), ("x-amz-content-sha256", hash),
                        ("x-amz-date", time),
                    ], bodyHash: hash)
                var request = WebRequest(
                    method: method, path: path, query: query.isEmpty ? nil : S3Signature.query(query),
                    body: body)
                for (name, value) in signed.headers { request.headers.add(name: name, value: value) }
                request.headers.add(
                    name: "authorization", value: signature.authorization(signed, at: time))
                return request
            }
        }

        // MARK: Errors

        private enum Purpose { case read, write }

        private func failure(_ answer: WebAnswer, _ purpose: Purpose) -> MailboxError {
            let host = bucket.endpoint.host
            let error = S3Error(answer.body)
            switch error?.code {
            case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "UnauthorizedAccess":
                return MailboxError(.credentials, "\(host) refuses the access key or its secret key")
            case "RequestTimeTooSkewed", "RequestExpired":
                return MailboxError(.clockSkew, "\(host) refuses signatures: \(clocks(answer))")
            case "NoSuchBucket":
                return MailboxError(.invalid, "there is no bucket “\(bucket.name)” on \(host)")
            case "AuthorizationHeaderMalformed", "InvalidRegion", "IllegalLocationConstraintException":
                let region = error?.region.map { ", it is in “\($0)”" } ?? ""
                return MailboxError(
                    .invalid, "the bucket “\(bucket.name)” is not in the region “\(bucket.region)”\(region)")
            case "PermanentRedirect", "TemporaryRedirect":
                let place = error?.endpoint.map { ", it is at \($0)" } ?? ""
                return MailboxError(.invalid, "the bucket “\(bucket.name)” is not at \(host)\(place)")
            case "QuotaExceeded", "XMinioStorageFull", "InsufficientStorage", "EntityTooLarge":
                return MailboxError(.full, "there is no room in the bucket “\(bucket.name)”")
            case "InvalidObjectState":
                return MailboxError(
                    .unreadable,
                    "an object of the bucket “\(bucket.name)” may not be read: it is in an archive")
            default: return failure(status: answer.status, isOfS3: error != nil, purpose)
            }
        }

        private func failure(status: Int, isOfS3: Bool, _ purpose: Purpose) -> MailboxError {
            let host = bucket.endpoint.host
            switch (status, purpose) {
            case (401, _):
                return MailboxError(.credentials, "\(host) refuses the access key or its secret key")
            case (403, .read):
                return MailboxError(.credentials, "this key may not read the bucket “\(bucket.name)”")
            case (403, .write):
                return MailboxError(.readOnly, "this key may not write to the bucket “\(bucket.name)”")
            case (507, _), (413, _):
                return MailboxError(.full, "there is no room in the bucket “\(bucket.name)”")
            case (200..<500, _) where !isOfS3:
                return MailboxError(.invalid, "\(host) does not speak the S3 API")
            default:
                return MailboxError(.unreachable, "\(host) answers with the error \(status)")
            }
        }

        /// By how much the clocks differ.
        private func clocks(_ answer: WebAnswer) -> String {
            guard let date = answer.date else { return "its clock and that of this machine differ too much" }
            let minutes = Int((now().timeIntervalSince(date) / 60).rounded())
            return
                "the clock of this machine is \(abs(minutes)) minutes \(minutes < 0 ? "behind" : "ahead of") it"
        }
    }
#endif
