import CSodium
import PeerSyncChannel
import PeerSyncModel

/// What an author derives of its static key (Protocol/mailbox.md section 2.1).
package struct AuthorSecrets: Sendable {
    package let author: Author
    package let verificationKey: [UInt8]
    private let pair: KeyPair
    private let signingKey: [UInt8]
    private let appBytes: [UInt8]

    package init(_ pair: KeyPair, app: AppID) {
        self.pair = pair
        appBytes = .text(app.description)
        let secret = pair.secretKey.withUnsafeBytes { Array($0) }
        author = Author(
            app: app, key: pair.publicKey.bytes,
            id: AuthorID(unchecked: Sealing.derive(secret, "author", appBytes, length: AuthorID.length)))
        let seed = Sealing.derive(secret, "signature", appBytes)
        var publicKey = [UInt8](repeating: 0, count: Int(crypto_sign_PUBLICKEYBYTES))
        var secretKey = [UInt8](repeating: 0, count: Int(crypto_sign_SECRETKEYBYTES))
        crypto_sign_seed_keypair(&publicKey, &secretKey, seed)
        verificationKey = publicKey
        signingKey = secretKey
    }

    package func key(of log: LogID) -> [UInt8] { derive("log", log.bytes) }

    package func key(of epoch: FileEpoch) -> [UInt8] { derive("files", epoch.bytes) }

    private func derive(_ context: String, _ data: [UInt8]) -> [UInt8] {
        Sealing.derive(pair.secretKey.withUnsafeBytes { Array($0) }, context, appBytes + data)
    }

    package func sign(_ message: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: Signature.length)
        crypto_sign_detached(&signature, nil, message, UInt64(message.count), signingKey)
        return signature
    }

    /// What this machine and another one both know, and nobody else.
    ///
    /// - Returns: nil when the other key is a bad one.
    package func shared(with key: [UInt8]) -> [UInt8]? {
        guard let key = try? PublicKey(key), let secret = try? pair.sharedSecret(with: key) else {
            return nil
        }
        return secret.withUnsafeBytes { Array($0) }
    }
}

/// Ed25519 signatures of heads and segments.
package enum Signature {
    package static let length = Int(crypto_sign_BYTES)
    package static let keyLength = Int(crypto_sign_PUBLICKEYBYTES)

    package static func isValid(_ signature: [UInt8], _ message: [UInt8], by key: [UInt8]) -> Bool {
        signature.count == length && key.count == keyLength
            && crypto_sign_verify_detached(signature, message, UInt64(message.count), key) == 0
    }
}
