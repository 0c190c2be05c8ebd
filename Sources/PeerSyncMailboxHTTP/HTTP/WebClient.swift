#if WebStorage
    import AsyncHTTPClient
    import Foundation
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOSSL
    import PeerSyncMailbox

    /// Sends requests to one server, and nowhere else: it follows no redirection, because another server must not get the password.
    final class WebClient: Sendable {
        /// The server.
        let address: WebAddress
        private let client: HTTPClient
        private let patience: Patience

        /// How long the client waits for what.
        struct Patience: Sendable {
            /// The pauses before a request is sent again that the server was too busy for, or whose connection broke.
            var pauses: [Duration] = [.milliseconds(500), .seconds(1), .seconds(2)]
            /// The longest pause that a server may ask for; the mailbox comes again anyway.
            var longestPause = Duration.seconds(10)
            /// How long a connection may take to come about.
            var connecting = TimeAmount.seconds(15)
            /// How long a server may be silent.
            var silence = TimeAmount.seconds(60)
            /// How long a request may take in all: the largest object, at 300 kbit/s.
            var request = Duration.seconds(10 * 60)
            /// How long a connection stays open for the next request. Apache closes one after five seconds.
            var idleness = TimeAmount.seconds(3)
        }

        /// - Parameters:
        ///   - certificate: the certificate, as PEM, of a server or of an authority that this machine trusts beside those of its system.
        /// - Throws: ``/PeerSyncMailbox/MailboxError`` `invalid` if that is no certificate.
        init(_ address: WebAddress, trusting certificate: [UInt8]?, patience: Patience = Patience()) throws {
            self.address = address
            self.patience = patience
            var tls = TLSConfiguration.makeClientConfiguration()
            if let certificate {
                guard let trusted = try? NIOSSLCertificate.fromPEMBytes(certificate), !trusted.isEmpty else {
                    throw MailboxError(.invalid, "the file of the certificate holds no certificate as PEM")
                }
                tls.additionalTrustRoots = [.certificates(trusted)]
            }
            var configuration = HTTPClient.Configuration(
                tlsConfiguration: tls, redirectConfiguration: .disallow,
                timeout: .init(
                    connect: patience.connecting, read: patience.silence, write: patience.silence),
                connectionPool: .init(idleTimeout: patience.idleness))
            // Otherwise a refused certificate would be tried again until the time is over.
            configuration.connectionPool.retryConnectionEstablishment = false
            configuration.httpVersion = .http1Only
            client = HTTPClient(
                eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton),
                configuration: configuration)
        }

        deinit {
            client.shutdown(queue: .global()) { _ in }
        }

        /// Sends a request, and again after a pause if the server is too busy or fails, or if the connection breaks: a server may close one at
        /// the moment at which a request comes. So a server may carry out a request twice.
        ///
        /// - Parameters:
        ///   - limit: the most bytes that the body of the answer may have.
        ///   - request: makes the request, anew for each attempt: a signature holds the time.
        /// - Throws: ``/PeerSyncMailbox/MailboxError`` if there is no answer that this can take, and `CancellationError`. Any status is an
        ///   answer, but a redirection.
        func send(upTo limit: Int, _ request: @Sendable () throws -> WebRequest) async throws -> WebAnswer {
            for pause in patience.pauses {
                var asked: Duration?
                do {
                    let answer = try await attempt(request(), limit)
                    guard Self.mayPass(answer.status) else { return answer }
                    asked = self.pause(answer)
                } catch let error as MailboxError where WebFailure.isBrokenConnection(error.underlying) {}
                try await Task.sleep(for: asked ?? pause * Double.random(in: 0.5...1.5))
            }
            return try await attempt(request(), limit)
        }

        /// Whether the server may answer otherwise a moment later. It never will where it lacks the method, or the room.
        private static func mayPass(_ status: Int) -> Bool {
            status == 429 || status >= 500 && status != 501 && status != 507
        }

        /// The pause that the server asks for.
        private func pause(_ answer: WebAnswer) -> Duration? {
            answer.headers.first(name: "Retry-After").flatMap { Int($0) }
                .map { min(.seconds(max($0, 0)), patience.longestPause) }
        }

        private func attempt(_ request: WebRequest, _ limit: Int) async throws -> WebAnswer {
            var message = HTTPClientRequest(
                url: address.origin + request.path + (request.query.map { "?\($0)" } ?? ""))
            message.method = request.method
            message.headers = request.headers
            message.headers.add(name: "User-Agent", value: "PeerSyncMailbox")
            message.body = request.body.map { .bytes($0) }
            let answer: WebAnswer
            do {
                answer = try await exchange(message, limit)
            } catch {
                try Task.checkCancellation()
                throw WebFailure.explained(error, address)
            }
            guard !(300..<400).contains(answer.status) || answer.status == 304 else {
                throw WebFailure.redirected(answer, address)
            }
            return answer
        }

        /// Sends a request, and takes the whole answer. The library's own limit ends with the head of the answer.
        private func exchange(_ message: HTTPClientRequest, _ limit: Int) async throws -> WebAnswer {
            try await withThrowingTaskGroup(of: WebAnswer?.self) { [client, patience] group in
                group.addTask {
                    let response = try await client.execute(message, timeout: TimeAmount(patience.request))
                    return WebAnswer(
                        status: Int(response.status.code), headers: response.headers,
                        body: Array(buffer: try await response.body.collect(upTo: limit)))
                }
                group.addTask {
                    try await Task.sleep(for: patience.request)
                    return nil
                }
                defer { group.cancelAll() }
                guard let answer = try await group.next() ?? nil else {
                    throw HTTPClientError.deadlineExceeded
                }
                return answer
            }
        }
    }
#endif
