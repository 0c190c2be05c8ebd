import Foundation
import Testing

@testable import PeerSyncModel

/// What a record says of a file has one form, and names of files lead nowhere.
struct AssetTests {
    static let hash = AssetHash(hex: String(repeating: "0f", count: 32))!

    static func asset(_ name: String, type: String = "image/jpeg", size: Int64 = 12) -> Asset? {
        Asset(hash: hash, size: size, mediaType: type, name: name)
    }

    @Test(arguments: [
        "IMG_1234.jpg", "", "two words.png", "a \"quoted\" name", "\",\"size\":1,\"type\":\"", "日本語 ☕️.heic",
        "..jpg", "-rf", "a.b.c", "\"",
        // To Swift, an accent is one character with what stands before it.
        "\u{301}", "\u{301}.png", "\"\u{301}", "a\"\u{301}b",
    ])
    func theTextInAColumnIsReadBack(name: String) throws {
        let asset = try #require(Self.asset(name))
        #expect(Asset(json: asset.json) == asset)
        // The same as any JSON reader sees.
        let object = try #require(
            JSONSerialization.jsonObject(with: Data(asset.json.utf8)) as? [String: Any])
        #expect(object["name"] as? String == name)
        #expect(object["size"] as? Int == 12)
        #expect(object["hash"] as? String == Self.hash.description)
    }

    @Test(arguments: [
        "", "{}", "no asset", "{\"hash\":\"\",\"name\":\"a\",\"size\":1,\"type\":\"image/png\"}",
        "{\"hash\":\"HASH\",\"name\":\"a\",\"size\":1,\"type\":\"image/png\"} ",
        "{\"hash\":\"HASH\", \"name\":\"a\",\"size\":1,\"type\":\"image/png\"}",
        "{\"name\":\"a\",\"hash\":\"HASH\",\"size\":1,\"type\":\"image/png\"}",
        "{\"hash\":\"HASH\",\"name\":\"a\",\"size\":01,\"type\":\"image/png\"}",
        "{\"hash\":\"HASH\",\"name\":\"a\",\"size\":+1,\"type\":\"image/png\"}",
        "{\"hash\":\"HASH\",\"name\":\"a\",\"size\":-1,\"type\":\"image/png\"}",
        "{\"hash\":\"HASH\",\"name\":\"a\",\"size\":1,\"type\":\"png\"}",
        "{\"hash\":\"HASH\",\"name\":\"a\",\"size\":1,\"type\":\"image/PNG\"}",
        "{\"hash\":\"HASH\",\"name\":\"../a\",\"size\":1,\"type\":\"image/png\"}",
        "{\"hash\":\"HASH\",\"name\":\"a\",\"size\":1,\"type\":\"image/png\"}}",
    ])
    func otherTextsAreNoAsset(text: String) {
        let text = text.replacingOccurrences(of: "HASH", with: Self.hash.description)
        #expect(Asset(json: text) == nil)
        #expect(Asset(json: text.uppercased()) == nil)
    }

    @Test(arguments: [
        "/", "a/b", "..", ".", "a\\b", "line\nbreak", "nul\0", "\u{7F}", "\u{9B}31m",
        String(repeating: "x", count: 256),
    ])
    func aNameThatLeadsSomewhereIsNone(name: String) {
        #expect(Self.asset(name) == nil)
        let cleaned = Asset.name(from: name)
        #expect(Self.asset(cleaned) != nil)
    }

    @Test(arguments: ["", "image", "image/", "/png", "image/png/x", "Image/png", "image/p ng", "image/é"])
    func aMediaTypeIsTwoWords(type: String) {
        #expect(Self.asset("a", type: type) == nil)
    }

    @Test func sizesHaveABound() {
        #expect(Self.asset("a", size: Asset.maximumSize) != nil)
        #expect(Self.asset("a", size: Asset.maximumSize + 1) == nil)
        #expect(Self.asset("a", size: -1) == nil)
    }

    @Test func theCanonicalEncodingIsReadBack() throws {
        let value = FieldValue.asset(try #require(Self.asset("☕️.jpg", size: 1 << 30)))
        var reader = ByteReader(value.canonicalBytes)
        let read = try reader.value()
        #expect(read == value)
        #expect(reader.isAtEnd)
        for length in 0..<value.canonicalBytes.count {
            #expect(throws: (any Error).self) {
                var short = ByteReader(Array(value.canonicalBytes.prefix(length)))
                _ = try short.value()
            }
        }
    }

    @Test func aRecordOfAnAppHasAFile() throws {
        let asset = try #require(Self.asset("a \"quoted\" ☕️.jpg"))
        #expect(try JSONDecoder().decode(Asset.self, from: JSONEncoder().encode(asset)) == asset)
        #expect(try JSONDecoder().decode(Asset.self, from: Data(asset.json.utf8)) == asset)
        #expect(Asset(jsonBytes: Array(asset.json.utf8)) == asset)
        #expect(Asset(jsonBytes: Array(asset.json.utf8) + [0xFF]) == nil)
    }

    @Test(arguments: [
        ("0f", "HASH"), ("image/jpeg", "jpeg"), ("a.jpg", "../a"), (":12", ":-1"),
    ])
    func whatDescribesNoFileCannotBeDecoded(valid: String, invalid: String) throws {
        let json = try #require(Self.asset("a.jpg")).json.replacingOccurrences(of: valid, with: invalid)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Asset.self, from: Data(json.utf8)) }
    }

    /// The value is that of `b2sum -l 256` and of Python's `hashlib.blake2b(digest_size=32)`.
    @Test func theHashIsBLAKE2b256() {
        var hasher = AssetHasher()
        for part in ["a", "", "bc"] { Array(part.utf8).withUnsafeBytes { hasher.update($0) } }
        #expect(hasher.count == 3)
        #expect(
            hasher.finish().description
                == "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319")
    }

    @Test func hexadecimalIsReadStrictly() {
        #expect(AssetHash(hex: Self.hash.description) == Self.hash)
        #expect(AssetHash(hex: Self.hash.description.uppercased()) == nil)
        #expect(AssetHash(hex: "../" + String(repeating: "0", count: 61)) == nil)
        #expect(AssetHash(hex: String(repeating: "0", count: 63)) == nil)
    }
}
