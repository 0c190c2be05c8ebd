import Foundation
import PeerSyncMailbox
import TestSupport
import Testing

/// What a mailbox relies on, whatever the storage is. Each check works in folders of its own, so that a server may serve many of them.
enum StorageCheck: String, CaseIterable, Sendable {
    case nothingIsThereAtFirst
    case anObjectComesBackAsItWas
    case aSecondPutTakesThePlaceOfTheFirst
    case objectsHaveEverySize
    case namesAreLong
    case aDeletedObjectIsGone
    case foldersDoNotMix
    case aListIsLongerThanAPage
    case oneOfManyPutsAtOnceStays

    func run(_ storage: any MailboxStorage) async throws {
        let folder = try Self.folder()
        switch self {
        case .nothingIsThereAtFirst:
            #expect(try await storage.list(folder).isEmpty)
            #expect(try await storage.get(Self.name(folder, "a")) == nil)
            try await storage.delete(Self.name(folder, "a"))
        case .anObjectComesBackAsItWas:
            let bytes = (0...255).map { UInt8($0) }
            try await storage.put(Self.name(folder, "a"), bytes)
            #expect(try await storage.get(Self.name(folder, "a")) == bytes)
            #expect(try await storage.get(Self.name(folder, "b")) == nil)
            #expect(try await Self.sizes(storage, folder) == ["a": 256])
        case .aSecondPutTakesThePlaceOfTheFirst:
            try await storage.put(Self.name(folder, "a"), [1, 2, 3])
            try await storage.put(Self.name(folder, "a"), [4])
            #expect(try await storage.get(Self.name(folder, "a")) == [4])
            #expect(try await Self.sizes(storage, folder) == ["a": 1])
        case .objectsHaveEverySize:
            var random = SeededGenerator(seed: 1)
            for size in [1, 65_535, 65_537, 1 << 20, MailboxLimits.objectSize] {
                let bytes = (0..<(size / 8 + 1)).flatMap { _ in
                    withUnsafeBytes(of: random.next()) { Array($0) }
                }.prefix(size)
                try await storage.put(Self.name(folder, "s\(size)"), Array(bytes))
                let read = try await storage.get(Self.name(folder, "s\(size)"))
                #expect(read.map { $0.elementsEqual(bytes) } == true, "\(size) bytes")
            }
        case .namesAreLong:
            let long = String(repeating: "0123456-", count: 8)
            try await storage.put(Self.name(folder, long), [1])
            #expect(try await storage.get(Self.name(folder, long)) == [1])
            #expect(try await Self.sizes(storage, folder) == [long: 1])
        case .aDeletedObjectIsGone:
            try await storage.put(Self.name(folder, "a"), [1])
            try await storage.put(Self.name(folder, "b"), [1])
            try await storage.delete(Self.name(folder, "a"))
            #expect(try await storage.get(Self.name(folder, "a")) == nil)
            #expect(try await Self.sizes(storage, folder) == ["b": 1])
        case .foldersDoNotMix:
            let longer = try #require(MailboxFolder("\(folder)-2"))
            try await storage.put(Self.name(folder, "a"), [1])
            try await storage.put(Self.name(longer, "b"), [1])
            #expect(try await Self.sizes(storage, folder) == ["a": 1])
            #expect(try await Self.sizes(storage, longer) == ["b": 1])
        case .aListIsLongerThanAPage: try await longList(storage, folder)
        case .oneOfManyPutsAtOnceStays: try await race(storage, folder)
        }
    }

    /// More objects than a page of the S3 API has.
    private func longList(_ storage: any MailboxStorage, _ folder: MailboxFolder) async throws {
        let count = 1_100
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= 16 { try await group.next() }
                group.addTask { try await storage.put(Self.name(folder, "n\(number)"), [UInt8(number & 255)]) }
            }
            try await group.waitForAll()
        }
        let expected = Dictionary(uniqueKeysWithValues: (0..<count).map { ("n\($0)", Int64(1)) })
        #expect(try await Self.sizes(storage, folder) == expected)
    }

    /// Each name has one writer, so a server may refuse one of two. What stays is whole.
    private func race(_ storage: any MailboxStorage, _ folder: MailboxFolder) async throws {
        let (name, size) = (try Self.name(folder, "a"), 100_000)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...8 {
                group.addTask {
                    do {
                        try await storage.put(name, [UInt8](repeating: UInt8(number), count: size))
                    } catch is MailboxError {}
                }
            }
            try await group.waitForAll()
        }
        let read = try #require(try await storage.get(name))
        #expect(read.count == size)
        #expect(Set(read).count == 1)
        #expect(try await Self.sizes(storage, folder) == ["a": Int64(size)])
    }

    // MARK: Names

    static func folder() throws -> MailboxFolder {
        try #require(MailboxFolder("t\(UUID().uuidString.lowercased())"))
    }

    static func name(_ folder: MailboxFolder, _ last: String) throws -> MailboxObjectName {
        try #require(MailboxObjectName(folder, last))
    }

    static func sizes(_ storage: any MailboxStorage, _ folder: MailboxFolder) async throws -> [String: Int64] {
        let list = try await storage.list(folder)
        #expect(Set(list.map(\.name)).count == list.count, "an object is listed twice")
        return Dictionary(list.map { ($0.name.last, $0.size) }) { one, _ in one }
    }
}
