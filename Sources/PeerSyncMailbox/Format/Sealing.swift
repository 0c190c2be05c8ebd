import CSodium
import PeerSyncChannel
import PeerSyncModel

/// Derivation of keys, and sealing of plaintexts (Protocol/mailbox.md section 2).
package enum Sealing {
    package static let keyLength = 32
    package static let nonceLength = 24
    private static let tagLength = 16

    /// Makes a key or a name of another key, for one purpose.
    ///
    /// - Parameters:
    ///   - key: 16 to 64 bytes.
    ///   - context: the purpose, in ASCII.
    ///   - length: bytes of the result, 16 to 64.
    package static func derive(
        _ key: [UInt8], _ context: String, _ data: [UInt8] = [], length: Int = keyLength
    ) -> [UInt8] {
        BLAKE2b.hash([UInt8].text(context) + data, key: key, length: length)
    }

    /// Pads and encrypts.
    ///
    /// - Parameters:
    ///   - count: see ``Padding/add(to:asFor:)``.
    ///   - nonce: 24 bytes that were never used with this key; only vectors name them.
    package static func seal(
        _ plaintext: [UInt8], _ key: [UInt8], at place: Place, asFor count: Int? = nil,
        nonce: [UInt8] = randomBytes(nonceLength)
    ) -> [UInt8] {
        precondition(key.count == keyLength && nonce.count == nonceLength)
        let padded = Padding.add(to: plaintext, asFor: count)
        let data = place.bytes
        var sealed = [UInt8](repeating: 0, count: padded.count + tagLength)
        crypto_aead_xchacha20poly1305_ietf_encrypt(
            &sealed, nil, padded, UInt64(padded.count), data, UInt64(data.count), nil, nonce, key)
        return nonce + sealed
    }

    /// The length of what ``seal(_:_:at:asFor:nonce:)`` makes of so many bytes.
    package static func sealedLength(_ count: Int) -> Int {
        nonceLength + Padding.padded(count + 1) + tagLength
    }

    /// Decrypts, and takes off the padding.
    package static func open(_ sealed: [UInt8], _ key: [UInt8], at place: Place) throws(DamagedObject)
        -> [UInt8]
    {
        guard let plaintext = openIfKey(sealed, key, at: place) else {
            throw DamagedObject("it does not open with its key at its place")
        }
        return try Padding.remove(from: plaintext)
    }

    /// Decrypts; nil if the key is another one.
    package static func openIfKey(_ sealed: [UInt8], _ key: [UInt8], at place: Place) -> [UInt8]? {
        guard sealed.count >= nonceLength + tagLength, key.count == keyLength else { return nil }
        let data = place.bytes
        let count = sealed.count - nonceLength - tagLength
        // Not empty, so that libsodium gets an address.
        var padded = [UInt8](repeating: 0, count: max(count, 1))
        let status = sealed.withUnsafeBufferPointer { sealed in
            crypto_aead_xchacha20poly1305_ietf_decrypt(
                &padded, nil, nil, sealed.baseAddress! + nonceLength, UInt64(count + tagLength),
                data, UInt64(data.count), sealed.baseAddress!, key)
        }
        return status == 0 ? Array(padded.prefix(count)) : nil
    }

    /// Unpredictable bytes.
    package static func randomBytes(_ count: Int) -> [UInt8] { Sodium.randomBytes(count: count) }
}

extension [UInt8] {
    /// A text behind its length, as the wire has it.
    package static func text(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        VariableLengthInteger.append(UInt64(text.utf8.count), to: &bytes)
        return bytes + text.utf8
    }

    /// A number as 8 bytes, the most significant first.
    package static func number(_ value: UInt64) -> [UInt8] {
        Swift.withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
