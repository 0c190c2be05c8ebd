import Foundation
import GRDB
import Scorebook
import Synchronization
import Testing

@testable import PeerSync

/// An app gets one event after the other, also when several tasks of the engine have something to tell.
struct EventOrderTests {
    private static func names(_ events: some AsyncSequence<SyncEvent, Never>) async -> [String] {
        var names: [String] = []
        for await event in events {
            guard case .paired(let name) = event else { break }
            names.append(name)
        }
        return names
    }

    @Test func eachReaderGetsWhatHappensFromThenOn() async throws {
        let channel = EventChannel { _ in }
        channel.send(.paired(name: "before"))
        let first = channel.stream()
        channel.send(.paired(name: "a"))
        let second = channel.stream()
        channel.send(.paired(name: "b"))
        channel.send(.storeTroubleEnded)
        #expect(await Self.names(first) == ["a", "b"])
        #expect(await Self.names(second) == ["b"])
    }

    @Test(.timeLimit(.minutes(5))) func aStreamEndsWithItsChannel() async throws {
        var channel: EventChannel? = EventChannel { _ in }
        let stream = try #require(channel).stream()
        channel?.send(.paired(name: "a"))
        channel = nil
        #expect(await Self.names(stream) == ["a"])
    }

    /// A reader that reads nothing must not take all memory.
    @Test func aSlowReaderMissesTheOldest() async throws {
        let channel = EventChannel { _ in }
        let stream = channel.stream()
        for number in 1...EventChannel.bufferSize + 5 { channel.send(.paired(name: "\(number)")) }
        channel.send(.storeTroubleEnded)
        let names = await Self.names(stream)
        #expect(names.first == "7" && names.count == EventChannel.bufferSize - 1)
    }

    @Test func noEventComesWhileAnotherIsTaken() async throws {
        let identity = Identity.generate()
        let scorebook = try ScorebookStore(DatabaseQueue(), replica: identity.replicaID)
        let log = Mutex<[String]>([])
        let engine = SyncEngine(
            app: .scorebook, store: scorebook.records, identity: identity, displayName: "kitchen",
            discovery: .off
        ) {
            event in
            guard case .paired(let name) = event else { return }
            log.withLock { $0.append(name) }
            // Long enough for another thread to come in, if it may.
            usleep(1_000)
            log.withLock { $0.append(name) }
        }
        await withTaskGroup(of: Void.self) { group in
            for task in ["a", "b", "c"] {
                group.addTask {
                    for number in 0..<20 { engine.onEvent(.paired(name: "\(task)\(number)")) }
                }
            }
        }
        let names = log.withLock { $0 }
        for index in stride(from: 0, to: names.count, by: 2) {
            #expect(names[index] == names[index + 1], "two at a time")
        }
        for task in ["a", "b", "c"] {
            let order = (0..<20).flatMap { ["\(task)\($0)", "\(task)\($0)"] }
            #expect(names.filter { $0.hasPrefix(task) } == order)
        }
    }
}
