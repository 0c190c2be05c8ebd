import Foundation
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol

/// All that a machine needs to pair with another one, as one text: for a QR code. Protocol/ "Pairing link" is normative.
///
/// Whoever reads the text can pair, as with the code alone.
public struct PairingLink: Sendable, Equatable, CustomStringConvertible {
    /// The most bytes of the text.
    public static let greatestSize = 1024
    /// The most addresses.
    public static let addressLimit = 8
    private static let beginning = "peer-sync:pair?v=1"
    /// The keys of the parts that this version reads.
    private static let keys: Set<Substring> = ["app", "code", "key", "at"]

    /// The app whose machines pair.
    public let app: AppID
    /// What the other machine shows.
    public let code: PairingCode
    /// The hash of the key that has to answer.
    let keyHash: [UInt8]
    /// Where the machine listens, the best first; may be empty.
    public let addresses: [PeerAddress]

    /// Makes the link of a machine that shows a code.
    ///
    /// - Parameters:
    ///   - engine: the engine of the machine.
    ///   - code: the code that it shows.
    ///   - addresses: where it listens, the best first. The link has the first ones that can be read and for which there is room:
    ///     at most ``addressLimit``, and ``greatestSize`` bytes in all.
    public init(to engine: SyncEngine, code: PairingCode, at addresses: [PeerAddress]) {
        self.init(app: engine.app, key: engine.identity.publicKey, code: code, at: addresses)
    }

    package init(app: AppID, key: PublicKey, code: PairingCode, at addresses: [PeerAddress]) {
        self.app = app
        self.code = code
        keyHash = ExpectedMachine.hash(of: key)
        var chosen: [PeerAddress] = []
        var room = Self.greatestSize - Self.text(app, code, keyHash).utf8.count
        for address in addresses where chosen.count < Self.addressLimit {
            let size = Self.text(address).utf8.count
            // One that nobody can read would make the whole link unreadable.
            guard size <= room, PeerAddress(address.description) == address else { continue }
            chosen.append(address)
            room -= size
        }
        self.addresses = chosen
    }

    /// Reads a link.
    ///
    /// - Returns: nil if the text is none, or of another version.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.greatestSize, text.hasPrefix(Self.beginning + "&") else { return nil }
        var values: [Substring: [String]] = [:]
        for part in text.dropFirst(Self.beginning.count + 1).split(separator: "&") {
            let key = part.prefix { $0 != "=" }
            guard Self.keys.contains(key) else { continue }
            guard key.endIndex < part.endIndex,
                let value = part[key.endIndex...].dropFirst().removingPercentEncoding
            else { return nil }
            values[key, default: []].append(value)
        }
        guard let app = values["app"]?.first.flatMap({ try? AppID($0) }),
            let code = values["code"]?.first.flatMap({ try? PairingCode($0) }),
            let hash = values["key"]?.first.flatMap({ [UInt8](hexadecimal: $0) }),
            hash.count == ExpectedMachine.hashLength
        else { return nil }
        let places = values["at"] ?? []
        let addresses = places.compactMap { PeerAddress($0) }
        guard places.count <= Self.addressLimit, addresses.count == places.count else { return nil }
        self.app = app
        self.code = code
        keyHash = hash
        self.addresses = addresses
    }

    /// The text, which ``init(_:)`` reads.
    public var description: String {
        Self.text(app, code, keyHash) + addresses.map { Self.text($0) }.joined()
    }

    /// The text without addresses.
    private static func text(_ app: AppID, _ code: PairingCode, _ keyHash: [UInt8]) -> String {
        "\(beginning)&app=\(app)&code=\(code.formatted.filter { $0 != "-" })&key=\(keyHash.hexadecimal)"
    }

    /// The part for one address.
    private static func text(_ address: PeerAddress) -> String {
        let allowed = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:[]")
        return "&at=" + (address.description.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")
    }
}
