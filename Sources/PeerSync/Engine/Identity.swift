import Foundation
import GRDB
import PeerSyncChannel
import PeerSyncModel
import PeerSyncStore

/// This machine's identity to others: an X25519 key pair outside the database, so that a copy of the database does not become a
/// second machine with the same identity. It is in a file, or where the app keeps ``rawRepresentation``.
public struct Identity: Sendable {
    package let keyPair: KeyPair

    package init(keyPair: KeyPair) {
        self.keyPair = keyPair
    }

    /// The static key by which peers know this machine.
    public var publicKey: PublicKey { keyPair.publicKey }

    /// The replica that this machine's stamps name.
    public var replicaID: ReplicaID { ReplicaID(hashing: publicKey.bytes) }

    /// Makes the identity of a secret key, as an app has it in a keychain.
    ///
    /// - Parameter rawRepresentation: what ``rawRepresentation`` gave. Who has it can pose as this machine, so the app erases its
    ///   copies.
    /// - Throws: ``PeerSyncError`` `invalidIdentity` when there are not exactly 32 bytes.
    public init(rawRepresentation: some Collection<UInt8>) throws {
        guard rawRepresentation.count == KeyPair.secretKeyByteCount,
            let keyPair = try? KeyPair(secretKey: SecretBytes(copying: rawRepresentation))
        else {
            throw PeerSyncError(
                .invalidIdentity,
                "an identity key has \(KeyPair.secretKeyByteCount) bytes, not \(rawRepresentation.count)")
        }
        self.init(keyPair: keyPair)
    }

    /// The 32 bytes of the secret key, for a place that keeps secrets, such as a keychain. Who has them can pose as this machine, and
    /// nobody but the app erases this copy.
    public var rawRepresentation: Data { keyPair.secretKey.withUnsafeBytes { Data($0) } }

    /// The name of the file in a store's directory.
    public static let fileName = "identity.key"

    /// Makes a new identity and stores it nowhere.
    public static func generate() -> Identity {
        Identity(keyPair: .generate())
    }

    /// Reads the identity in a file, and writes nothing.
    ///
    /// - Returns: nil when there is no file.
    /// - Throws: see ``loadOrCreate(at:)``.
    public static func load(at url: URL) throws -> Identity? {
        try IdentityFile(url: url).read().map(Identity.init(keyPair:))
    }

    /// Reads the identity in a file, or writes a new one if the file is missing.
    ///
    /// - Throws: ``PeerSyncError``: `unsafeIdentity` when other users can read the file, `foreignIdentity` when it
    ///   belongs to another user, `invalidIdentity` when it holds no identity, `storeUnusable` when it cannot be read
    ///   or written.
    public static func loadOrCreate(at url: URL) throws -> Identity {
        if let identity = try load(at: url) { return identity }
        let new = generate()
        if try IdentityFile(url: url).create(new.keyPair) { return new }
        // Another process was faster, and its identity counts.
        guard let identity = try load(at: url) else {
            throw PeerSyncError(
                .storeUnusable, "\(url.path) is a symbolic link that leads nowhere; move it away")
        }
        return identity
    }

    /// Reads the identity of a store in a file. Writes a new one if the file is missing, unless the store is paired: opened under another
    /// identity, it would lose its pairings. ``renew(at:)`` is for whoever wants that.
    ///
    /// - Parameters:
    ///   - url: the file.
    ///   - database: the store's database, which this only reads; nil if there is none yet.
    /// - Throws: see ``loadOrCreate(at:)``; `missingIdentity`; errors of SQLite.
    public static func loadOrCreate(at url: URL, for database: (any DatabaseReader)?) throws -> Identity {
        if let identity = try load(at: url) { return identity }
        let isPaired = try database?.read { db in try StorePeers.isAny(db) } ?? false
        guard !isPaired else {
            throw PeerSyncError(
                .missingIdentity,
                "\(url.path) is missing, the secret key by which the paired machines know this one",
                path: url.path)
        }
        return try loadOrCreate(at: url)
    }

    /// Reads the identity of a database, or writes a new one: in the file beside it whose name has `-identity.key` at its
    /// end. A database in memory gets a new identity each time.
    ///
    /// - Throws: see ``loadOrCreate(at:)``.
    public static func loadOrCreate(besideDatabase path: String) throws -> Identity {
        guard !["", ":memory:"].contains(path), !path.contains("mode=memory") else { return generate() }
        // However the path of a database is written, it has one identity.
        let url = path.hasPrefix("file:") ? URL(string: path) : nil
        let file = URL(fileURLWithPath: url?.path ?? path).resolvingSymlinksInPath()
        return try loadOrCreate(at: URL(fileURLWithPath: file.path + "-identity.key"))
    }

    /// Replaces the identity in a file by a new one. The store beside it becomes a new replica that is paired with
    /// nobody.
    ///
    /// - Throws: ``PeerSyncError`` (`storeUnusable`) when the file cannot be written; the old identity then stays.
    public static func renew(at url: URL) throws -> Identity {
        let new = generate()
        try IdentityFile(url: url).replace(by: new.keyPair)
        return new
    }
}
