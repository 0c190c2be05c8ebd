import CSodium
import Foundation

/// Signs requests as the S3 API asks for: AWS Signature Version 4, with the signature in the header `Authorization`.
struct S3Signature: Sendable {
    let credentials: WebCredentials
    let region: String
    /// `s3`; the published examples have others.
    var service = "s3"

    /// What of a request is signed.
    struct Request: Sendable {
        let method: String
        /// Percent-encoded, as it is sent.
        let path: String
        /// Names and values, not encoded.
        var query: [(name: String, value: String)] = []
        /// Each name in lower case. `host` and `x-amz-date` must be among them.
        var headers: [(name: String, value: String)]
        /// The SHA-256 of the body in hexadecimal digits.
        let bodyHash: String
    }

    /// Returns the value of the header `Authorization`.
    ///
    /// - Parameter date: the time, as ``time(_:)`` writes it.
    func authorization(_ request: Request, at date: String) -> String {
        let scope = "\(date.prefix(8))/\(region)/\(service)/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(date)\n\(scope)\n\(Self.hash(Array(Self.canonical(request).utf8)))"
        let signature = Self.hexadecimal(Self.code(Array(text.utf8), key(on: String(date.prefix(8)))))
        return
            "AWS4-HMAC-SHA256 Credential=\(credentials.user)/\(scope), SignedHeaders=\(Self.names(request)), Signature=\(signature)"
    }

    /// The request in the one form that both sides compute the signature of.
    static func canonical(_ request: Request) -> String {
        let headers = request.headers.sorted { $0.name < $1.name }
            .map { "\($0.name):\($0.value.trimmingCharacters(in: .whitespaces).replacing(/[ ]+/, with: " "))\n" }
        return [
            request.method, request.path.isEmpty ? "/" : request.path, query(request.query), headers.joined(),
            names(request), request.bodyHash,
        ].joined(separator: "\n")
    }

    /// The query as it is signed and sent: encoded, and sorted.
    static func query(_ items: [(name: String, value: String)]) -> String {
        items.map { (encode($0.name), encode($0.value)) }.sorted { $0 < $1 }
            .map { "\($0)=\($1)" }.joined(separator: "&")
    }

    private static func names(_ request: Request) -> String {
        request.headers.map(\.name).sorted().joined(separator: ";")
    }

    private static func encode(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                String(UnicodeScalar(byte))
            default: "%" + hexadecimal([byte]).uppercased()
            }
        }.joined()
    }

    // MARK: Keys and hashes

    private func key(on day: String) -> [UInt8] {
        [region, service, "aws4_request"].reduce(
            Self.code(Array(day.utf8), Array("AWS4\(credentials.secret)".utf8))
        ) { Self.code(Array($1.utf8), $0) }
    }

    /// The SHA-256 of bytes, in hexadecimal digits.
    static func hash(_ bytes: [UInt8]) -> String {
        var hash = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        crypto_hash_sha256(&hash, bytes, UInt64(bytes.count))
        return hexadecimal(hash)
    }

    /// HMAC-SHA-256, with a key of any length.
    private static func code(_ bytes: [UInt8], _ key: [UInt8]) -> [UInt8] {
        var state = crypto_auth_hmacsha256_state()
        var code = [UInt8](repeating: 0, count: Int(crypto_auth_hmacsha256_BYTES))
        crypto_auth_hmacsha256_init(&state, key, key.count)
        crypto_auth_hmacsha256_update(&state, bytes, UInt64(bytes.count))
        crypto_auth_hmacsha256_final(&state, &code)
        return code
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    // MARK: Time

    /// A time as signatures have it: `20130524T000000Z`.
    static func time(_ date: Date) -> String {
        date.formatted(
            .iso8601.year().month().day().dateSeparator(.omitted).time(includingFractionalSeconds: false)
                .timeSeparator(.omitted).timeZone(separator: .omitted))
    }
}
