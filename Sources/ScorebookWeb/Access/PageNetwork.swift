import CSodium
import Foundation

#if LAN
    import NIOSSL
#endif

/// What makes the page safe for other devices of the network: a certificate, with its secret key.
public struct PageNetwork: Sendable {
    /// The names and addresses for which the certificate was made.
    public let names: [String]
    /// When the certificate expires.
    public let expires: Date
    /// The SHA-256 of the certificate as people compare it: pairs of hexadecimal digits with colons between them.
    public let fingerprint: String
    /// The first name of a certificate that somebody has given; nil for one that this machine made.
    let givenName: String?
    #if LAN
        let configuration: TLSConfiguration
    #endif

    /// Reads a certificate and its key.
    ///
    /// - Parameters:
    ///   - certificate: PEM, with those of who signed it after it.
    ///   - key: PEM, without a password.
    ///   - isGiven: whether somebody has given it, so that its names are those under which people know this machine.
    /// - Throws: ``WebServerError``: `noTLS` when the program was built without the trait `LAN`; `invalidCertificate`.
    public init(certificate: Data, key: Data, isGiven: Bool) throws {
        #if LAN
            do {
                let chain = try NIOSSLCertificate.fromPEMBytes(Array(certificate))
                guard let first = chain.first else {
                    throw WebServerError(.invalidCertificate("it holds none"))
                }
                let configuration = TLSConfiguration.makeServerConfiguration(
                    certificateChain: chain.map { .certificate($0) },
                    privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key), format: .pem)))
                // Fails if the two do not belong together.
                _ = try NIOSSLContext(configuration: configuration)
                self.configuration = configuration
                names = first._subjectAlternativeNames().compactMap(Self.name)
                expires = Date(timeIntervalSince1970: Double(first.notValidAfter))
                fingerprint = Self.fingerprint(try first.toDERBytes())
                givenName = isGiven ? names.first { !$0.contains("*") } : nil
            } catch let error as NIOSSLError {
                throw WebServerError(
                    .invalidCertificate("the certificate and the key cannot be used together"),
                    underlying: error)
            } catch let error as BoringSSLError {
                throw WebServerError(.invalidCertificate("it is not in the form PEM"), underlying: error)
            }
        #else
            throw WebServerError(.noTLS)
        #endif
    }

    #if LAN
        private static func name(_ name: _SubjectAlternativeName) -> String? {
            name.contents.withUnsafeBufferPointer { bytes in
                switch (name.nameType, bytes.count) {
                case (.dnsName, _): String(decoding: bytes, as: UTF8.self).lowercased()
                case (.ipAddress, 4): bytes.map(String.init).joined(separator: ".")
                default: nil
                }
            }
        }

        private static func fingerprint(_ certificate: [UInt8]) -> String {
            var hash = [UInt8](repeating: 0, count: 32)
            crypto_hash_sha256(&hash, certificate, UInt64(certificate.count))
            return hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
                .joined(separator: ":")
        }
    #endif
}
