#if WebStorage
    import Foundation
    import PeerSyncMailbox
    import Testing

    @testable import PeerSyncMailboxHTTP

    /// A server that is busy is asked again; whatever else it does ends with a sentence, and no password goes anywhere else.
    @Suite(.timeLimit(.minutes(5))) struct WebClientTests {
        private static func client(_ server: ScriptedServer) throws -> WebClient {
            try WebClient(
                WebAddress(server.address), trusting: nil,
                patience: .init(pauses: [.zero, .zero, .zero], longestPause: .zero))
        }

        @Test(arguments: [429, 500, 502, 503, 504]) func aBusyServerIsAskedAgain(_ status: Int) async throws {
            try await ScriptedServer.with { _, number in
                number < 3 ? .status(status, headers: ["Retry-After": "3600"]) : .status(200, body: [7])
            } run: { server in
                let answer = try await Self.client(server).send(upTo: 10) {
                    WebRequest(method: .GET, path: "/a")
                }
                #expect(answer.body == [7])
                #expect(server.requests.count == 4)
            }
        }

        /// As a server does that closes a connection at the moment at which a request comes.
        @Test(arguments: [.nothing, .cut(promised: 10, body: [1])] as [ScriptedServer.Answer])
        func aRequestWhoseConnectionBrokeIsSentAgain(_ answer: ScriptedServer.Answer) async throws {
            try await ScriptedServer.with { _, number in
                number < 3 ? answer : .status(200, body: [7])
            } run: { server in
                let answer = try await Self.client(server).send(upTo: 10) {
                    WebRequest(method: .GET, path: "/a")
                }
                #expect(answer.body == [7])
                #expect(server.requests.count == 4)
            }
        }

        @Test(arguments: [501, 507, 404, 403]) func whatStaysSoIsAskedOnce(_ status: Int) async throws {
            try await ScriptedServer.with { _, _ in
                .status(status)
            } run: { server in
                let answer = try await Self.client(server).send(upTo: 10) {
                    WebRequest(method: .GET, path: "/a")
                }
                #expect(answer.status == status)
                #expect(server.requests.count == 1)
            }
        }

        @Test func aServerThatStaysBusyIsLeftAlone() async throws {
            try await ScriptedServer.with { _, _ in
                .status(503)
            } run: { server in
                let answer = try await Self.client(server).send(upTo: 10) {
                    WebRequest(method: .GET, path: "/a")
                }
                #expect(answer.status == 503)
                #expect(server.requests.count == 4)
            }
        }

        @Test func noRedirectionIsFollowed() async throws {
            try await ScriptedServer.with { _, _ in
                .status(200)
            } run: { other in
                try await ScriptedServer.with { [port = other.port] _, _ in
                    .status(302, headers: ["Location": "http://127.0.0.1:\(port)/elsewhere"])
                } run: { server in
                    let error = try await Self.failure(server)
                    #expect(error.code == .invalid)
                    #expect(
                        error.message
                            == "127.0.0.1 sends to http://127.0.0.1:\(other.port); give the address there")
                }
                #expect(other.requests.isEmpty)
            }
        }

        @Test(
            arguments: [
                (
                    .status(200, body: [UInt8](repeating: 0, count: 100)), .unreadable,
                    "more than an answer may have"
                ),
                (.cut(promised: 10, body: [1, 2, 3]), .unreachable, "broke"),
                (.bytes("SSH-2.0-OpenSSH\r\n"), .invalid, "does not answer as a web server"),
                (.nothing, .unreachable, "broke"),
            ] as [(ScriptedServer.Answer, MailboxError.Code, String)])
        func whateverAServerDoesEndsWithASentence(
            _ answer: ScriptedServer.Answer, _ code: MailboxError.Code, _ words: String
        ) async throws {
            try await ScriptedServer.with { _, _ in
                answer
            } run: { server in
                let error = try await Self.failure(server)
                #expect(error.code == code)
                #expect(error.message.contains(words), "\(error.message)")
            }
        }

        @Test func aSilentServerTakesTooLong() async throws {
            try await ScriptedServer.with { _, _ in
                .silence
            } run: { server in
                let client = try WebClient(
                    WebAddress(server.address), trusting: nil, patience: .init(silence: .milliseconds(50)))
                let error = try await #require(throws: MailboxError.self) {
                    try await client.send(upTo: 10) { WebRequest(method: .GET, path: "/") }
                }
                #expect(error.code == .unreachable)
                #expect(error.message == "127.0.0.1 takes too long")
            }
        }

        /// Each byte ends the silence.
        @Test func aServerThatDripsTakesTooLong() async throws {
            try await ScriptedServer.with { _, _ in
                .drip(promised: 500)
            } run: { server in
                let client = try WebClient(
                    WebAddress(server.address), trusting: nil, patience: .init(request: .milliseconds(300)))
                let error = try await #require(throws: MailboxError.self) {
                    try await client.send(upTo: 1000) { WebRequest(method: .GET, path: "/") }
                }
                #expect(error.code == .unreachable)
                #expect(error.message == "127.0.0.1 takes too long")
            }
        }

        @Test func aPortWhereNobodyListensIsUnreachable() async throws {
            let port = try await ScriptedServer.with { _, _ in
                .nothing
            } run: {
                $0.port
            }
            let client = try WebClient(WebAddress("http://127.0.0.1:\(port)"), trusting: nil)
            let error = try await #require(throws: MailboxError.self) {
                try await client.send(upTo: 10) { WebRequest(method: .GET, path: "/") }
            }
            #expect(error.code == .unreachable)
            #expect(error.message == "nothing listens there on 127.0.0.1")
        }

        @Test func aServerWithoutTLSIsNamed() async throws {
            try await ScriptedServer.with { _, _ in
                .status(200)
            } run: { server in
                let client = try WebClient(WebAddress("https://127.0.0.1:\(server.port)"), trusting: nil)
                let error = try await #require(throws: MailboxError.self) {
                    try await client.send(upTo: 10) { WebRequest(method: .GET, path: "/") }
                }
                #expect(error.message.hasSuffix("does not speak TLS"), "\(error.message)")
            }
        }

        @Test func aNameThatNobodyHasIsUnreachable() async throws {
            let client = try WebClient(WebAddress("https://nobody.invalid"), trusting: nil)
            let error = try await #require(throws: MailboxError.self) {
                try await client.send(upTo: 10) { WebRequest(method: .GET, path: "/") }
            }
            #expect(error.code == .unreachable)
            #expect(error.message == "no machine of the name nobody.invalid is known")
        }

        @Test func aFileWithoutACertificateIsRefused() throws {
            #expect(throws: MailboxError.self) {
                try WebClient(WebAddress("https://localhost"), trusting: Array("none".utf8))
            }
        }

        private static func failure(_ server: ScriptedServer) async throws -> MailboxError {
            try await #require(throws: MailboxError.self) {
                try await client(server).send(upTo: 10) { WebRequest(method: .GET, path: "/a") }
            }
        }
    }
#endif
