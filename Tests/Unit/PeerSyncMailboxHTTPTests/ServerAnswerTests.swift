#if WebStorage
    import Foundation
    import PeerSyncMailbox
    import Testing

    @testable import PeerSyncMailboxHTTP

    /// Answers of many servers are read; wrong and truncated ones are refused, and never taken for empty lists.
    @Suite(.timeLimit(.minutes(5))) struct ServerAnswerTests {
        /// As Apache, Nextcloud, rclone and nginx answer.
        @Test(arguments: [
            """
            <?xml version="1.0" encoding="utf-8"?>
            <D:multistatus xmlns:D="DAV:" xmlns:ns0="DAV:">
            <D:response xmlns:lp1="DAV:"><D:href>/dav/heads/</D:href><D:propstat><D:prop><lp1:resourcetype><D:collection/></lp1:resourcetype>
            <lp1:getlastmodified>Tue, 24 Nov 2026 09:00:00 GMT</lp1:getlastmodified></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>
            <D:propstat><D:prop><D:getcontentlength/></D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat></D:response>
            <D:response xmlns:lp1="DAV:"><D:href>/dav/heads/a-1</D:href><D:propstat><D:prop><lp1:resourcetype/>
            <lp1:getcontentlength>42</lp1:getcontentlength><lp1:getlastmodified>Tue, 24 Nov 2026 09:00:00 GMT</lp1:getlastmodified></D:prop>
            <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>
            """,
            """
            <?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:response><d:href>/dav/heads/</d:href>\
            <d:propstat><d:prop><d:getlastmodified>Tue, 24 Nov 2026 09:00:00 GMT</d:getlastmodified><d:resourcetype><d:collection/></d:resourcetype></d:prop>\
            <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response><d:response><d:href>/dav/heads/a-1</d:href><d:propstat><d:prop>\
            <d:getcontentlength>42</d:getcontentlength><d:getlastmodified>Tue, 24 Nov 2026 09:00:00 GMT</d:getlastmodified><d:resourcetype/></d:prop>\
            <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>
            """,
            """
            <multistatus xmlns="DAV:"><response><href>http://localhost/dav/heads/</href><propstat><prop><resourcetype><collection xmlns="DAV:"/>\
            </resourcetype></prop><status>HTTP/1.1 200 OK</status></propstat></response><response><href>http://localhost/dav/heads/a%2D1</href>\
            <propstat><prop><getcontentlength>42</getcontentlength><getlastmodified>Tue, 24 Nov 2026 09:00:00 GMT</getlastmodified><resourcetype></resourcetype></prop>\
            <status>HTTP/1.1 200 OK</status></propstat></response></multistatus>
            """,
        ]) func listsOfManyServersAreRead(_ text: String) throws {
            let entries = try Multistatus(Array(text.utf8)).entries
            #expect(entries.map(\.name) == ["heads", "a-1"])
            #expect(entries.map(\.isFolder) == [true, false])
            #expect(entries[1].size == 42)
            #expect(entries[1].modified == Date(timeIntervalSince1970: 1_795_510_800))
        }

        @Test(arguments: [
            "", "not found", "<html><body>Welcome to our guests</body></html>",
            "<multistatus xmlns=\"DAV:\"><response><href>/a</href>",
            "<!DOCTYPE multistatus [<!ENTITY a \"b\">]><multistatus xmlns=\"DAV:\"/>",
            "<?xml version=\"1.0\"?><!-- <multistatus/> --><other/>",
        ]) func whatIsNoListIsRefused(_ text: String) {
            #expect(throws: MailboxError.self) { try Multistatus(Array(text.utf8)) }
            #expect(throws: MailboxError.self) { try S3Listing(Array(text.utf8)) }
        }

        @Test func aListThatIsCutAtAnyByteIsRefused() throws {
            let text = """
                <?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>scores</Name>\
                <Prefix>heads/</Prefix><KeyCount>2</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated><Contents><Key>heads/a</Key>\
                <Size>1</Size></Contents><Contents><Key>heads/b</Key><Size>2</Size></Contents></ListBucketResult>
                """
            let listing = try S3Listing(Array(text.utf8))
            #expect(listing.objects.map(\.key) == ["heads/a", "heads/b"])
            #expect(listing.objects.map(\.size) == [1, 2])
            #expect(listing.next == nil)
            for length in 0..<text.utf8.count {
                #expect(throws: MailboxError.self) { try S3Listing(Array(text.utf8.prefix(length))) }
            }
        }

        @Test func aListThatSaysThatMoreFollowsNamesIt() throws {
            func page(_ rest: String) -> [UInt8] {
                Array("<ListBucketResult><IsTruncated>true</IsTruncated>\(rest)</ListBucketResult>".utf8)
            }
            #expect(try S3Listing(page("<NextContinuationToken>x/y=</NextContinuationToken>")).next == "x/y=")
            #expect(throws: MailboxError.self) { try S3Listing(page("")) }
        }

        @Test func tenThousandEntriesAreRead() throws {
            let entries = (0..<10_000).map {
                "<D:response><D:href>/dav/heads/n\($0)</D:href><D:propstat><D:prop><D:resourcetype/><D:getcontentlength>\($0)</D:getcontentlength>"
                    + "<D:getlastmodified>Tue, 24 Nov 2026 09:00:00 GMT</D:getlastmodified></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
            }.joined()
            let read = try Multistatus(
                Array("<D:multistatus xmlns:D=\"DAV:\">\(entries)</D:multistatus>".utf8))
            #expect(read.entries.map(\.size) == (0..<10_000).map { Int64($0) })
        }

        @Test func timesOfHTTPAreRead() {
            #expect(
                WebAnswer.date("Fri, 24 May 2013 00:00:00 GMT") == Date(timeIntervalSince1970: 1_369_353_600))
            #expect(WebAnswer.date("yesterday") == nil)
        }

        // MARK: Errors

        private static func s3(_ status: Int, _ code: String, _ more: String = "") -> ScriptedServer.Answer {
            .status(
                status, headers: ["Date": "Tue, 24 Nov 2026 09:00:00 GMT"],
                body: Array(
                    "<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>m</Message>\(more)</Error>"
                        .utf8))
        }

        @Test(
            arguments: [
                (s3(403, "InvalidAccessKeyId"), .credentials, "refuses the access key"),
                (s3(403, "SignatureDoesNotMatch"), .credentials, "refuses the access key"),
                (
                    s3(403, "RequestTimeTooSkewed"), .clockSkew,
                    "the clock of this machine is 180 minutes ahead of it"
                ),
                (s3(403, "AccessDenied"), .readOnly, "may not write"),
                (s3(404, "NoSuchBucket"), .invalid, "no bucket"),
                (
                    s3(400, "AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>"), .invalid,
                    "it is in “eu-west-1”"
                ),
                (s3(409, "QuotaExceeded"), .full, "no room"), (.status(507), .full, "no room"),
                (.status(404, body: Array("<html/>".utf8)), .invalid, "does not speak the S3 API"),
                (s3(400, "Unknown"), .unreachable, "answers with the error 400"),
            ] as [(ScriptedServer.Answer, MailboxError.Code, String)])
        func errorsOfTheS3APIAreSentences(
            _ answer: ScriptedServer.Answer, _ code: MailboxError.Code, _ words: String
        )
            async throws
        {
            try await ScriptedServer.with { _, _ in
                answer
            } run: { server in
                let storage = try Self.s3(at: server)
                try await Self.expect(code, words) {
                    try await storage.put(StorageCheck.name(StorageCheck.folder(), "a"), [1])
                }
            }
        }

        @Test(
            arguments: [
                (401, .credentials, "refuses the name or the password"), (403, .readOnly, "may not write"),
                (507, .full, "no room"), (405, .invalid, "no WebDAV server"),
                (423, .unreachable, "has locked"),
                (500, .unreachable, "answers with the error 500"),
            ] as [(Int, MailboxError.Code, String)])
        func errorsOfWebDAVAreSentences(_ status: Int, _ code: MailboxError.Code, _ words: String)
            async throws
        {
            try await ScriptedServer.with { request, _ in
                .status(request.method == "MKCOL" ? 405 : status)
            } run: { server in
                let storage = try Self.webDAV(at: server)
                try await Self.expect(code, words) {
                    try await storage.put(StorageCheck.name(StorageCheck.folder(), "a"), [1])
                }
            }
        }

        /// One object in an archive is damaged, and the rest goes on; a key that may read none is the wrong one.
        @Test(
            arguments: [
                (s3(403, "InvalidObjectState"), .unreadable), (s3(403, "AccessDenied"), .credentials),
            ] as [(ScriptedServer.Answer, MailboxError.Code)])
        func anObjectOfABucketThatMayNotBeRead(_ answer: ScriptedServer.Answer, _ code: MailboxError.Code)
            async throws
        {
            try await ScriptedServer.with { _, _ in
                answer
            } run: { server in
                let storage = try Self.s3(at: server)
                try await Self.expect(code, "may not") {
                    _ = try await storage.get(StorageCheck.name(StorageCheck.folder(), "a"))
                }
            }
        }

        /// One file that this user may not read is damaged; whether the password is right the list tells.
        @Test func aFileOnAServerThatMayNotBeReadIsDamaged() async throws {
            try await ScriptedServer.with { _, _ in
                .status(403)
            } run: { server in
                let storage = try Self.webDAV(at: server)
                let folder = try StorageCheck.folder()
                try await Self.expect(.unreadable, "may not read") {
                    _ = try await storage.get(StorageCheck.name(folder, "a"))
                }
                try await Self.expect(.credentials, "may not read") { _ = try await storage.list(folder) }
            }
        }

        /// A bucket on a server of which the clock is 180 minutes behind.
        private static func s3(at server: ScriptedServer) throws -> S3Storage {
            let bucket = try S3Bucket("scores", at: WebAddress(server.address))
            return S3Storage(
                in: bucket, credentials: WebCredentials(user: "ada", secret: "hush"),
                client: try WebClient(bucket.endpoint, trusting: nil, patience: .init(pauses: [])),
                now: { Date(timeIntervalSince1970: 1_795_510_800 + 10_800) })
        }

        private static func webDAV(at server: ScriptedServer) throws -> WebDAVStorage {
            let client = try WebClient(
                WebAddress(server.address), trusting: nil, patience: .init(pauses: []))
            return WebDAVStorage(client, WebCredentials(user: "ada", secret: "hush"))
        }

        private static func expect(
            _ code: MailboxError.Code, _ words: String, _ body: () async throws -> Void
        ) async throws {
            let error = try await #require(throws: MailboxError.self) { try await body() }
            #expect(error.code == code, "\(error.message)")
            #expect(error.message.contains(words), "\(error.message)")
            #expect(!error.message.contains("hush"))
        }

        /// As Apache does when two make a folder at the same moment.
        @Test func aFolderThatSomebodyElseMakesIsThere() async throws {
            try await ScriptedServer.with { request, _ in
                switch request.method {
                case "MKCOL": .status(403)
                case "PROPFIND": .status(207)
                default: .status(201)
                }
            } run: { server in
                let storage = try WebDAVStorage(at: WebAddress(server.address), credentials: nil)
                try await storage.put(StorageCheck.name(StorageCheck.folder(), "a"), [1])
                #expect(server.requests.map(\.method) == ["MKCOL", "PROPFIND", "PUT", "MOVE"])
            }
        }

        /// The server moves the object, and the connection breaks before it says so. There is nothing to move for the second request.
        @Test func anObjectWhoseMoveWasNotAnsweredIsPutAgain() async throws {
            try await ScriptedServer.with { request, number in
                switch (request.method, number) {
                case ("MOVE", 2): .nothing
                case ("MOVE", 3): .status(404)
                default: .status(201)
                }
            } run: { server in
                let client = try WebClient(
                    WebAddress(server.address), trusting: nil, patience: .init(pauses: [.zero]))
                try await WebDAVStorage(client, nil).put(StorageCheck.name(StorageCheck.folder(), "a"), [1])
                #expect(
                    server.requests.map(\.method) == ["MKCOL", "PUT", "MOVE", "MOVE", "PUT", "MOVE"])
                #expect(server.requests.filter { $0.method == "PUT" }.map(\.body) == [[1], [1]])
            }
        }

        /// A cut upload leaves a file behind. It is removed when the server's own clock says that a day has passed.
        @Test func whatWasCutOffIsRemovedAfterADay() async throws {
            func entry(_ name: String, _ date: String) -> String {
                "<response><href>/heads/\(name)</href><propstat><prop><resourcetype/><getcontentlength>1</getcontentlength>"
                    + "<getlastmodified>\(date)</getlastmodified></prop><status>HTTP/1.1 200 OK</status></propstat></response>"
            }
            let (old, new) = (
                ".put-" + String(repeating: "0a", count: 16), ".put-" + String(repeating: "0b", count: 16)
            )
            // Another user has named it so that removing it removes something else. It is read as `.put-%2F..`.
            let foreign = ".put-%252F..%252F..%252Fphotos%252Falbum-2026"
            let list =
                "<multistatus xmlns=\"DAV:\">" + entry(old, "Sun, 22 Nov 2026 09:00:00 GMT")
                + entry(new, "Tue, 24 Nov 2026 08:00:00 GMT") + entry("a", "Sun, 22 Nov 2026 09:00:00 GMT")
                + entry(foreign, "Sun, 22 Nov 2026 09:00:00 GMT")
                + "</multistatus>"
            try await ScriptedServer.with { request, _ in
                request.method == "PROPFIND"
                    ? .status(207, headers: ["Date": "Tue, 24 Nov 2026 09:00:00 GMT"], body: Array(list.utf8))
                    : .status(204)
            } run: { server in
                let storage = try WebDAVStorage(at: WebAddress(server.address), credentials: nil)
                #expect(try await storage.list(#require(MailboxFolder("heads"))).map(\.name.last) == ["a"])
                #expect(server.requests.filter { $0.method == "DELETE" }.map(\.target) == ["/heads/\(old)"])
            }
        }
    }
#endif
