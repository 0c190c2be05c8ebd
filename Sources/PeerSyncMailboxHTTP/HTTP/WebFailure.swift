#if WebStorage
    import AsyncHTTPClient
    import Foundation
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import NIOSSL
    import PeerSyncMailbox

    /// Says in a sentence why there is no answer of a server.
    enum WebFailure {
        /// Explains an error of a connection.
        static func explained(_ error: any Error, _ address: WebAddress) -> MailboxError {
            let host = address.host
            switch error {
            case is NIOTooManyBytesError:
                return MailboxError(
                    .unreadable, "\(host) answers with more than an answer may have", underlying: error)
            case let error as HTTPClientError where error == .connectTimeout:
                return unreachable("\(host) does not answer", error)
            case let error as HTTPClientError
            where [.readTimeout, .writeTimeout, .deadlineExceeded, .tlsHandshakeTimeout].contains(error):
                return unreachable("\(host) takes too long", error)
            case is HTTPClientError, is IOError, is ChannelError:
                return connection(error, host)
            case let error as NIOConnectionError:
                return error.connectionErrors.isEmpty
                    ? unreachable("no machine of the name \(host) is known", error)
                    : connection(error.connectionErrors[0].error, host)
            case let error as HTTPParserError where error == .invalidEOFState:
                return connection(error, host)
            case is HTTPParserError:
                return MailboxError(.invalid, "\(host) does not answer as a web server", underlying: error)
            default:
                return tls(error, address)
            }
        }

        /// Whether a connection that had come about broke. A new one may not.
        static func isBrokenConnection(_ error: (any Error)?) -> Bool {
            switch error {
            case let error as HTTPClientError: error == .remoteConnectionClosed
            case let error as IOError: [ECONNRESET, EPIPE].contains(error.errnoCode)
            case let error as HTTPParserError: error == .invalidEOFState
            case let error as NIOSSLError: error == .uncleanShutdown
            case is ChannelError: true
            default: false
            }
        }

        /// Says that a server sends somewhere else. The password is for this server, so nobody goes there.
        static func redirected(_ answer: WebAnswer, _ address: WebAddress) -> MailboxError {
            let place = answer.headers.first(name: "Location").flatMap { URLComponents(string: $0) }
            guard let host = place?.host, let scheme = place?.scheme else {
                return MailboxError(
                    .invalid, "\(address.host) sends to another place, status \(answer.status)")
            }
            let port = place?.port.map { ":\($0)" } ?? ""
            return MailboxError(
                .invalid, "\(address.host) sends to \(scheme)://\(host)\(port); give the address there")
        }

        private static func connection(_ error: any Error, _ host: String) -> MailboxError {
            guard let number = (error as? IOError)?.errnoCode else {
                return unreachable("the connection with \(host) broke", error)
            }
            return number == ECONNREFUSED
                ? unreachable("nothing listens there on \(host)", error)
                : unreachable(
                    "\(host) cannot be reached: \(String(cString: strerror(number)).lowercased())", error)
        }

        private static func tls(_ error: any Error, _ address: WebAddress) -> MailboxError {
            let host = address.host
            if let error = error as? NIOSSLExtraError, error == .failedToValidateHostname {
                return MailboxError(
                    .notTrusted, "the certificate at \(host) is for other names", underlying: error)
            }
            // The library tells the reason in its text alone.
            if "\(error)".contains("CERTIFICATE_VERIFY_FAILED") {
                return MailboxError(
                    .notTrusted,
                    "nobody whom this machine trusts vouches for the certificate at \(host), or it has expired",
                    underlying: error)
            }
            if "\(error)".contains("WRONG_VERSION_NUMBER") {
                return MailboxError(.invalid, "\(address.authority) does not speak TLS", underlying: error)
            }
            return unreachable("the connection with \(host) broke", error)
        }

        private static func unreachable(_ message: String, _ error: any Error) -> MailboxError {
            MailboxError(.unreachable, message, underlying: error)
        }
    }
#endif
