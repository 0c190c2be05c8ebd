import Foundation
import SecureChannel
import SyncModel

/// Who this machine is to others: an X25519 key pair that lives in a file of its own, outside the database, so that
/// a copied database is not a second machine with the same name.
public struct Identity: Sendable {
    package let keyPair: KeyPair

    package init(keyPair: KeyPair) {
        self.keyPair = keyPair
    }

    /// The static key that peers know this machine by.
    public var publicKey: PublicKey { keyPair.publicKey }

    /// Under which id this machine stamps its writes.
    public var replicaID: ReplicaID { ReplicaID(hashing: publicKey.bytes) }

    /// The name of the file in a store's directory.
    public static let fileName = "identity.key"

    /// A new identity that is kept nowhere.
    public static func generate() -> Identity {
        Identity(keyPair: .generate())
    }

    /// The identity in a file; a new one, written there, if the file is missing.
    ///
    /// - Throws: ``PeerSyncError``: `unsafeIdentity` when others than the owner can read the file, `foreignIdentity` when it
    ///   belongs to somebody else, `invalidIdentity` when it is not an identity; `storeUnusable` when it cannot be read or
    ///   written.
    public static func loadOrCreate(at url: URL) throws -> Identity {
        let file = IdentityFile(url: url)
        if let keyPair = try file.read() { return Identity(keyPair: keyPair) }
        let new = generate()
        if try file.create(new.keyPair) { return new }
        // Another process was faster, and its identity is the one.
        guard let keyPair = try file.read() else {
            throw PeerSyncError(
                .storeUnusable, "\(url.path) is a symbolic link that leads nowhere; move it away")
        }
        return Identity(keyPair: keyPair)
    }

    /// Puts a new identity in the place of the one in a file. The store beside it becomes a replica of its own, which
    /// is paired with nobody.
    ///
    /// - Throws: ``PeerSyncError`` (`storeUnusable`) when the file cannot be written; the old identity stays then.
    public static func renew(at url: URL) throws -> Identity {
        let new = generate()
        try IdentityFile(url: url).replace(by: new.keyPair)
        return new
    }
}
