#if WebStorage
    import Foundation
    import NIOHTTP1
    import PeerSyncMailbox
    import Synchronization

    /// A mailbox in a folder of a WebDAV server, such as Nextcloud or Apache.
    ///
    /// An object gets its name only when it is whole: the storage puts it under a name that begins with a dot, and moves it. No way of writing
    /// a file only if it is not there works on all servers, and none is needed: each name has one writer.
    ///
    /// The folder itself must be there: with a slip in the address, a mailbox of its own would begin, and nobody would notice.
    public final class WebDAVStorage: MailboxStorage {
        /// The address of the folder.
        public var address: WebAddress { client.address }

        private let client: WebClient
        private let authorization: String?
        /// The folders in it that are known to be there.
        private let known = Mutex<Set<MailboxFolder>>([])

        /// The most bytes of a list: some 100,000 objects.
        private static let listSize = 64 << 20
        /// The most bytes of an answer that only says how it went. More is not read.
        private static let answerSize = 1 << 20

        /// Names a folder on a server. Nothing is sent yet.
        ///
        /// - Parameters:
        ///   - credentials: the name and password for the server; nil if it asks for none.
        ///   - certificate: a certificate, as PEM, that this machine trusts beside those that its system trusts: that of the server, or
        ///     of the authority that signed it.
        /// - Throws: ``/PeerSyncMailbox/MailboxError`` `invalid` for a certificate that is none.
        public convenience init(
            at address: WebAddress, credentials: WebCredentials?, trusting certificate: [UInt8]? = nil
        ) throws {
            self.init(try WebClient(address, trusting: certificate), credentials)
        }

        init(_ client: WebClient, _ credentials: WebCredentials?) {
            self.client = client
            authorization = credentials.map {
                "Basic " + Data("\($0.user):\($0.secret)".utf8).base64EncodedString()
            }
        }

        public func put(_ name: MailboxObjectName, _ bytes: [UInt8]) async throws {
            if try await putOnce(name, bytes) { return }
            // The answer to a first request may have been lost, so that the object has its name already. The same bytes again do no harm.
            guard try await putOnce(name, bytes) else {
                throw MailboxError(.unreachable, "a folder at \(client.address) has gone")
            }
        }

        /// - Returns: false if the server found nothing to move.
        private func putOnce(_ name: MailboxObjectName, _ bytes: [UInt8]) async throws -> Bool {
            try await makeFolder(name.folder)
            let temporary = "\(path(name.folder))/\(TemporaryName.new())"
            let written = try await send(.PUT, temporary, body: bytes)
            guard written.isSuccess else {
                // Somebody has removed the folder; the next attempt makes it again.
                _ = known.withLock { $0.remove(name.folder) }
                throw failure(written, .write)
            }
            let moved = try await send(
                .MOVE, temporary,
                ["Destination": client.address.origin + path(name), "Overwrite": "T"])
            guard moved.isSuccess || moved.status == 404 else {
                _ = try? await send(.DELETE, temporary)
                throw failure(moved, .write)
            }
            return moved.isSuccess
        }

        public func get(_ name: MailboxObjectName) async throws -> [UInt8]? {
            let answer = try await send(.GET, path(name), upTo: MailboxLimits.objectSize)
            guard answer.status != 404 else { return nil }
            guard answer.status == 200 else { throw failure(answer, .readObject) }
            return answer.body
        }

        public func list(_ folder: MailboxFolder) async throws -> [MailboxObject] {
            let answer = try await properties(path(folder) + "/", depth: "1")
            if answer.status == 404 {
                try await checkPresence()
                return []
            }
            guard answer.status == 207 else { throw failure(answer, .read) }
            let entries = try Multistatus(answer.body).entries
            await removeStale(entries, in: folder, at: answer.date)
            return entries.compactMap { entry in
                guard !entry.isFolder, let size = entry.size,
                    let name = MailboxObjectName(folder, entry.name)
                else { return nil }
                return MailboxObject(name: name, size: size)
            }
        }

        public func delete(_ name: MailboxObjectName) async throws {
            let answer = try await send(.DELETE, path(name))
            guard answer.isSuccess || answer.status == 404 else { throw failure(answer, .write) }
        }

        // MARK: Folders

        private func makeFolder(_ folder: MailboxFolder) async throws {
            guard !known.withLock({ $0.contains(folder) }) else { return }
            let answer = try await send(.MKCOL, path(folder) + "/")
            // 405 says that there is one. It is also what a server says that makes no folders: then the put fails. If somebody else makes it
            // at the same moment, Apache answers 403.
            if !answer.isSuccess, answer.status != 405,
                try await properties(path(folder) + "/", depth: "0").status != 207
            {
                if [404, 409].contains(answer.status) { try await checkPresence() }
                throw failure(answer, .write)
            }
            _ = known.withLock { $0.insert(folder) }
        }

        /// - Throws: ``MailboxError`` if the folder that holds all others is not there.
        private func checkPresence() async throws {
            let answer = try await properties(client.address.path + "/", depth: "0")
            guard answer.status == 207 else {
                throw answer.status == 404
                    ? MailboxError(.invalid, "there is no folder at \(client.address)")
                    : failure(answer, .read)
            }
        }

        /// Removes what was cut off while it was written. Both times are the server's, so no wrong clock removes too much.
        private func removeStale(_ entries: [Multistatus.Entry], in folder: MailboxFolder, at now: Date?)
            async
        {
            guard let now else { return }
            for entry in entries where TemporaryName.isOne(entry.name) {
                guard let date = entry.modified, now.timeIntervalSince(date) > TemporaryName.staleAge else {
                    continue
                }
                // The next list tries again.
                _ = try? await send(.DELETE, "\(path(folder))/\(entry.name)")
            }
        }

        // MARK: Requests

        private func path(_ folder: MailboxFolder) -> String { "\(client.address.path)/\(folder)" }
        private func path(_ name: MailboxObjectName) -> String { "\(client.address.path)/\(name)" }

        private func properties(_ path: String, depth: String) async throws -> WebAnswer {
            try await send(
                .PROPFIND, path, ["Depth": depth, "Content-Type": "application/xml"],
                body: Array(Multistatus.question.utf8), upTo: Self.listSize)
        }

        private func send(
            _ method: HTTPMethod, _ path: String, _ headers: KeyValuePairs<String, String> = [:],
            body: [UInt8]? = nil, upTo limit: Int = answerSize
        ) async throws -> WebAnswer {
            var request = WebRequest(method: method, path: path, body: body)
            for (name, value) in headers { request.headers.add(name: name, value: value) }
            if let authorization { request.headers.add(name: "Authorization", value: authorization) }
            return try await client.send(upTo: limit) { [request] in request }
        }

        // MARK: Errors

        private enum Purpose { case read, readObject, write }

        private func failure(_ answer: WebAnswer, _ purpose: Purpose) -> MailboxError {
            let host = client.address.host
            switch (answer.status, purpose) {
            case (401, _):
                return MailboxError(
                    .credentials,
                    authorization == nil
                        ? "\(host) asks for a name and a password"
                        : "\(host) refuses the name or the password")
            case (403, .read):
                return MailboxError(.credentials, "this user may not read \(client.address)")
            case (403, .readObject):
                // The list says whether this user may read others.
                return MailboxError(.unreadable, "this user may not read a file at \(client.address)")
            case (403, .write):
                return MailboxError(.readOnly, "this user may not write to \(client.address)")
            case (507, _), (413, _):
                return MailboxError(.full, "there is no room on \(host)")
            case (404, _), (409, _):
                return MailboxError(.unreachable, "a folder at \(client.address) has gone")
            case (423, _):
                return MailboxError(.unreachable, "another program has locked a file at \(client.address)")
            case (200, _), (400, _), (405, _), (415, _), (501, _):
                return MailboxError(.invalid, "there is no WebDAV server at \(client.address)")
            default:
                return MailboxError(.unreachable, "\(host) answers with the error \(answer.status)")
            }
        }
    }
#endif
