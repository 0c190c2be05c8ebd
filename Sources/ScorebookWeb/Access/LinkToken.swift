import CSodium
import Foundation

/// The secret in the link that lets a browser of this machine in. It is a new one whenever the server starts.
struct LinkToken: Sendable {
    private let text = Secret.make()

    /// The link, for a terminal.
    func url(port: Int) -> URL {
        var link = URLComponents()
        link.scheme = "http"
        link.host = "127.0.0.1"
        link.port = port
        link.path = "/enter"
        link.queryItems = [URLQueryItem(name: "key", value: text)]
        guard let url = link.url else { preconditionFailure("a port and hexadecimal digits make a URL") }
        return url
    }

    /// Returns whether somebody knows the secret. Takes the same time for each wrong one of its length.
    func matches(_ other: String) -> Bool { Secret.areEqual(text, other) }
}

/// Random texts that nobody can guess.
enum Secret {
    /// Returns 32 hexadecimal digits: 128 random bits.
    static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Returns the hash under which a secret is stored: BLAKE2b-256 of its UTF-8.
    static func hash(_ text: String) -> Data {
        let input = Array(text.utf8)
        var hash = [UInt8](repeating: 0, count: 32)
        let status = crypto_generichash(&hash, hash.count, input, UInt64(input.count), nil, 0)
        precondition(status == 0, "libsodium makes hashes of 32 bytes")
        return Data(hash)
    }

    /// Compares two secrets in the same time, wherever they differ.
    static func areEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        return left.count == right.count && sodium_memcmp(left, right, left.count) == 0
    }
}
