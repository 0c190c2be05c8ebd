import Foundation
import GRDB
import PeerSyncStore
import Testing

/// Keys that follow from values are the same everywhere.
struct UUIDDerivationTests {
    /// From Python's `hashlib.blake2b`, with the namespace and the bytes that the documentation describes.
    @Test func aDerivedKeyIsAUUIDOfVersion8() {
        let answers: [(UUID, String)] = [
            (UUID(derivedFrom: "work"), "fb760115-2a8d-8267-b9ac-757574fe2622"),
            (UUID(derivedFrom: "Müller"), "fad13be3-aa74-8b89-b6c3-dec4d10bc19b"),
            (UUID(derivedFrom: 7), "cb411485-9ae3-8598-a6a8-7dab50e48890"),
            (UUID(derivedFrom: -1), "acc72b0e-d380-8d8c-87a2-9d925427a521"),
            (UUID(derivedFrom: 2.5), "813f1a62-dbb3-8af8-9939-37e65abec4d6"),
            (UUID(derivedFrom: -0.0), "3360a8a1-8fa9-88dc-968d-ce1136edf290"),
            (UUID(derivedFrom: Data([0, 255])), "cb41a68f-f7df-8336-b75d-5041f69e69cf"),
            (UUID(derivedFrom: nil), "7a4d6741-8fe7-8cf3-91e1-d2e1c144551e"),
            (UUID(derivedFrom: "a", "bc"), "b1e3bbbd-5c17-8e0e-b9b4-8eab7575a0ac"),
            (UUID(derivedFrom: "ab", "c"), "78c4f16f-c9e4-8bad-8135-8ba80d6ec0bb"),
            (UUID(derivedFrom: "household", "TodoList", 1), "a183553f-e932-8500-bdbe-f443c63dea93"),
            (UUID(derivedFrom: String(repeating: "x", count: 200)), "2996a963-62b8-805c-9422-7e3c6e4f0ef5"),
        ]
        for (key, answer) in answers { #expect(key.uuidString.lowercased() == answer) }
    }
}
