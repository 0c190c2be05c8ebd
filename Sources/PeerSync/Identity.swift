import Foundation
import SecureChannel
import SyncModel

/// Who this machine is to others: an X25519 key pair that lives in a file of its own, outside the database, so that
/// a copied database is not a second machine with the same name.
public struct Identity: Sendable {
    package let keyPair: KeyPair

    /// The static key that peers know this machine by.
    public var publicKey: PublicKey { keyPair.publicKey }

    /// Under which id this machine stamps its writes.
    public var replicaID: ReplicaID { ReplicaID(hashing: publicKey.bytes) }

    /// The name of the file in a store's directory.
    public static let fileName = "identity.key"
    private static let header = "scorebook-peer identity 1 "

    /// A new identity that is kept nowhere.
    public static func generate() -> Identity {
        Identity(keyPair: .generate())
    }

    /// The identity in a file; a new one, written there, if the file is missing.
    ///
    /// - Throws: ``PeerSyncError`` (`unsafeIdentity`) when others than the owner can read the file, or it is
    ///   not an identity; errors of the file system.
    public static func loadOrCreate(at url: URL) throws -> Identity {
        guard FileManager.default.fileExists(atPath: url.path) else { return try create(at: url) }
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        let permissions = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0o777
        guard permissions & 0o077 == 0 else {
            throw PeerSyncError(
                .unsafeIdentity,
                "others can read \(url.path), which holds this machine's secret key; run: chmod 600 \(url.path)"
            )
        }
        let text = try String(contentsOf: url, encoding: .utf8)
        guard text.hasPrefix(header), let bytes = bytes(hex: text.dropFirst(header.count)),
            bytes.count == KeyPair.secretKeyByteCount,
            let keyPair = try? KeyPair(secretKey: SecretBytes(copying: bytes))
        else {
            throw PeerSyncError(
                .unsafeIdentity,
                "\(url.path) is not an identity key; restore it from a backup, or move it away to get a new identity"
            )
        }
        return Identity(keyPair: keyPair)
    }

    /// Puts a new identity in the place of the one in a file. The store beside it becomes a replica of its own, which
    /// is paired with nobody.
    ///
    /// - Throws: ``PeerSyncError`` (`storeUnusable`) when the file cannot be written; the old identity stays then.
    public static func renew(at url: URL) throws -> Identity {
        let (identity, new) = try writeNew(beside: url)
        guard rename(new.path, url.path) == 0 else {
            let reason = String(cString: strerror(errno))
            try? FileManager.default.removeItem(at: new)
            throw PeerSyncError(.storeUnusable, "cannot write \(url.path): \(reason)")
        }
        return identity
    }

    /// Puts a new identity into a file that is not there; if another process is faster, its identity is the one.
    private static func create(at url: URL) throws -> Identity {
        let (identity, new) = try writeNew(beside: url)
        defer { try? FileManager.default.removeItem(at: new) }
        // A link is made whole or not at all, and never replaces anything.
        if link(new.path, url.path) == 0 { return identity }
        guard errno == EEXIST else {
            throw PeerSyncError(
                .storeUnusable, "cannot write \(url.path): \(String(cString: strerror(errno)))")
        }
        return try loadOrCreate(at: url)
    }

    /// Writes a new identity to a file of a name that nobody has.
    private static func writeNew(beside url: URL) throws -> (Identity, URL) {
        let new = url.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString).key")
        let identity = generate()
        let hex = identity.keyPair.secretKey.withUnsafeBytes { bytes in
            bytes.hexadecimal
        }
        // O_EXCL and the mode at creation: the key is never readable by others, and never replaces another.
        let descriptor = open(new.path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else {
            throw PeerSyncError(
                .storeUnusable, "cannot write \(url.path): \(String(cString: strerror(errno)))")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: Data((header + hex + "\n").utf8))
        try file.synchronize()
        try file.close()
        return (identity, new)
    }

    private static func bytes(hex text: Substring) -> [UInt8]? {
        let digits = Array(text.trimmingCharacters(in: .whitespacesAndNewlines).utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
            else {
                return nil
            }
            bytes.append(byte)
        }
        return bytes
    }
}
