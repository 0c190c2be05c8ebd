import Foundation
import GRDB
import PeerSyncStore
import Testing

/// Keys that follow from values are the same everywhere.
struct UUIDDerivationTests {
    /// From Python's `uuid.uuid5` with the same namespace, and the bytes that the documentation describes as the name.
    @Test func aDerivedKeyIsAUUIDOfVersion5() {
        let answers: [(UUID, String)] = [
            (UUID(derivedFrom: "work"), "9d68f866-4d21-5901-8de8-c7260034e28c"),
            (UUID(derivedFrom: "Müller"), "d20aaaee-5084-540e-a62f-6c9a172d560c"),
            (UUID(derivedFrom: 7), "d2233d12-088f-552c-8ffb-49f497f0776e"),
            (UUID(derivedFrom: -1), "a38c5c38-5385-57cd-9734-303dfe830fa2"),
            (UUID(derivedFrom: 2.5), "7abeea15-f9d7-5bcd-919e-4a28c7416d1b"),
            (UUID(derivedFrom: -0.0), "df7a7db6-1871-5a50-a5cb-3943ff4e51c9"),
            (UUID(derivedFrom: Data([0, 255])), "01d2011f-e5aa-5678-9add-0e13168149ff"),
            (UUID(derivedFrom: nil), "bf6d3969-199b-534d-ba86-303e68adcb49"),
            (UUID(derivedFrom: "a", "bc"), "f8ea5692-106e-5c38-94cd-bfd666d25152"),
            (UUID(derivedFrom: "ab", "c"), "f3590e6b-59b9-50bd-bd59-c1baa8615e12"),
            (UUID(derivedFrom: "household", "TodoList", 1), "8fdf0557-9ac5-5c6b-906c-9d8bea3714d6"),
            (UUID(derivedFrom: String(repeating: "x", count: 200)), "ded35a88-459a-500f-a694-5e01f4e307f0"),
        ]
        for (key, answer) in answers { #expect(key.uuidString.lowercased() == answer) }
    }
}
