import Foundation
import PeerSync
import ScorebookWeb

/// The certificate that this machine makes for its page, with its secret key, in one file beside the scorebook.
struct OwnCertificate {
    static let fileName = "page.pem"
    /// What browsers take at most.
    private static let days = 397
    /// A certificate is made anew when it lasts no longer than this, in seconds.
    private static let rest: TimeInterval = 30 * 86_400

    let directory: URL
    private var file: URL { directory.appendingPathComponent(Self.fileName) }

    /// Reads the certificate. Makes a new one if there is none, if it expires soon, or if this machine has got other names.
    ///
    /// - Throws: ``Failure`` when it cannot be made; ``WebServerError`` `noTLS`.
    func network() throws -> PageNetwork {
        if let network = try existing(), network.expires.timeIntervalSinceNow > Self.rest,
            Set(Self.names).isSubset(of: network.names)
        {
            return network
        }
        try make()
        guard let network = try existing() else {
            throw Failure(.cannotCreate, "the certificate of the page, \(file.path), cannot be read")
        }
        return network
    }

    /// - Returns: nil if there is none that can be used.
    private func existing() throws -> PageNetwork? {
        let data = (try? Data(contentsOf: file)) ?? Data()
        do {
            return try PageNetwork(certificate: data, key: data, isGiven: false)
        } catch let error as WebServerError {
            if case .invalidCertificate = error.code { return nil }
            throw error
        }
    }

    /// The names and addresses of this machine.
    private static var names: [String] {
        let host = SyncEngine.hostName.lowercased()
        let names = host.contains(".") ? [host] : [host, "\(host).local"]
        return (names + ["localhost"]).filter(isName) + ["127.0.0.1"] + OwnAddresses.all
    }

    /// A name with other characters would break the file that says what to make.
    private static func isName(_ text: String) -> Bool {
        text.wholeMatch(of: /[a-z0-9_]([a-z0-9._-]{0,250}[a-z0-9])?/) != nil
    }

    private func make() throws {
        let work = directory.appendingPathComponent("page-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: work, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: work) }
        let (request, made) = (work.appendingPathComponent("request"), work.appendingPathComponent("made"))
        try Data(Self.request.utf8).write(to: request)
        // The key first, and the certificate after it: in a directory that only this user may read.
        let run = SystemProgram.run(
            "openssl", "req", "-x509", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            // Some versions write the curve as numbers otherwise, which TLS does not take.
            "-pkeyopt", "ec_param_enc:named_curve", "-nodes",
            "-days", "\(Self.days)", "-config", request.path, "-keyout", made.path, "-out", made.path)
        guard let run else {
            throw Failure(
                .unavailable, "openssl is missing, which makes the certificate of the page",
                hint: "install openssl, or give a certificate with --certificate FILE --key FILE")
        }
        guard run.isSuccess, chmod(made.path, 0o600) == 0, rename(made.path, file.path) == 0 else {
            let reason = run.errors.split(separator: "\n").last.map { ": \($0)" } ?? ""
            throw Failure(.cannotCreate, "the certificate of the page cannot be made\(reason)")
        }
    }

    private static var request: String {
        let places = names.map { isAddress($0) ? "IP:\($0)" : "DNS:\($0)" }.joined(separator: ", ")
        return """
            [req]
            prompt = no
            distinguished_name = subject
            x509_extensions = extensions
            [subject]
            CN = Scorebook
            [extensions]
            basicConstraints = critical, CA:FALSE
            keyUsage = critical, digitalSignature
            extendedKeyUsage = serverAuth
            subjectAltName = \(places)

            """
    }

    private static func isAddress(_ name: String) -> Bool {
        name.wholeMatch(of: /[0-9]+(\.[0-9]+){3}/) != nil
    }
}
