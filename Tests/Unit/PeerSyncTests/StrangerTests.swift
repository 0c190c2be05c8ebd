import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import PeerSync
@testable import PeerSyncProtocol

/// Strangers keep nobody out, and fill no terminal.
struct StrangerTests {
    // MARK: Places

    private func address(_ number: Int) -> String { "192.168.1.\(number)" }

    @Test func whoComesGetsAPlaceAndTheOldestOfTheAddressWithMostGoes() {
        var places = StrangerPlaces<Int>()
        // Four addresses take all places, each its share.
        for number in 0..<64 {
            #expect(places.enter(number, from: address(number % 4)) == nil)
        }
        #expect(places.enter(64, from: address(9)) == 0)
        // The one that has lost a place has not most any more.
        #expect(places.enter(65, from: address(9)) == 1)
        #expect(places.enter(66, from: address(9)) == 2)
        #expect(places.enter(67, from: address(9)) == 3)
        #expect(places.enter(68, from: address(9)) == 4)
        // Whoever has gone by itself makes room.
        #expect(places.leave(63) == true)
        #expect(places.enter(69, from: address(9)) == nil)
    }

    @Test func anAddressThatHasAllItMayHaveMakesRoomForItself() {
        var places = StrangerPlaces<Int>()
        for number in 0..<16 { #expect(places.enter(number, from: address(1)) == nil) }
        #expect(places.enter(16, from: address(1)) == 0)
        #expect(places.enter(17, from: address(2)) == nil)
        #expect(places.leave(0) == false)
        #expect(places.removeAll().count == 17 && places.removeAll().isEmpty)
    }

    /// However many come, an address with one connection keeps it as long as any has two.
    @Test func aFloodFromFewAddressesMovesNobodyElse() {
        var places = StrangerPlaces<Int>()
        for number in 0..<64 { _ = places.enter(number, from: address(number % 63)) }
        _ = places.enter(-1, from: address(200))
        for number in 64..<10_000 {
            #expect(places.enter(number, from: address(number % 30)) != -1)
        }
    }

    #if os(Linux)
        /// All of 127.0.0.0/8 is this computer there.
        @Test(.timeLimit(.minutes(5))) func silentStrangersKeepNoNewMachineFromPairing() async throws {
            let kitchen = try LoopbackMachine("kitchen")
            try await kitchen.listening { port in
                var crowd: [any Channel] = []
                for number in 0..<64 {
                    crowd.append(
                        try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                            .bind(to: SocketAddress(ipAddress: "127.0.0.\(10 + number % 4)", port: 0))
                            .connect(host: "127.0.0.1", port: port).get())
                }
                let code = try await kitchen.engine.pairing.show()
                // From an address of its own, and from one of the crowd's.
                for (name, address) in [("study", "127.0.0.2"), ("attic", "127.0.0.10")] {
                    try await LoopbackMachine(name).call(
                        port, from: address,
                        SessionCall(
                            pairing: .ifUnknown(
                                name == "study" ? code : try await kitchen.engine.pairing.show()),
                            isOnce: true))
                }
                for stranger in crowd { stranger.close(promise: nil) }
            }
        }
    #endif

    /// Nobody serves those any more, and each is closed all the same.
    @Test(.timeLimit(.minutes(5))) func whoComesWhileAListenerEndsIsClosed() async throws {
        let kitchen = try LoopbackMachine("kitchen")
        for _ in 0..<50 {
            let (arrivals, arrived) = AsyncStream<Void>.makeStream()
            try await withThrowingTaskGroup(of: Void.self) { group in
                try await kitchen.listening { port in
                    for _ in 0..<8 {
                        group.addTask {
                            let channel = try? await ClientBootstrap(
                                group: .singletonMultiThreadedEventLoopGroup
                            ).connect(host: "127.0.0.1", port: port).get()
                            arrived.yield()
                            try await channel?.closeFuture.get()
                        }
                    }
                    // The first has come, the others come while the listener ends.
                    for await _ in arrivals { break }
                }
                try await group.waitForAll()
            }
        }
    }

    // MARK: What is told of them

    private func reason(_ number: Int) -> PeerSyncError { PeerSyncError(.noPeer, "reason \(number)") }

    @Test func theFirstAreToldAndTheOthersCounted() {
        let begin = ContinuousClock.now
        var tally = RefusalTally()
        let told = (0..<1000).count { tally.add("address \($0)", reason($0), at: begin) }
        #expect(told == 8)
        #expect(tally.endPeriod(at: begin + .seconds(59)) == nil)
        #expect(
            tally.endPeriod(at: begin + .seconds(60))
                == RefusalTally.Rest(count: 992, address: "address 999", reason: reason(999)))
        // As long as they go on coming, they are only counted, however slowly.
        #expect(tally.add("late", reason(0), at: begin + .seconds(100)) == false)
        #expect(tally.endPeriod(at: begin + .seconds(120))?.count == 1)
        // After a period without any, the next one is told.
        #expect(tally.endPeriod(at: begin + .seconds(180)) == nil)
        #expect(tally.end == nil)
        #expect(tally.add("later", reason(0), at: begin + .seconds(300)) == true)
    }

    /// A machine that was removed tries again for a while, at each address where it knows this one.
    @Test func whatIsToldAlreadyIsOnlyCounted() {
        let begin = ContinuousClock.now
        var tally = RefusalTally()
        let told = (0..<4).count { _ in tally.add("attic", reason(1), at: begin) }
        let others = [tally.add("attic", reason(2), at: begin), tally.add("thief", reason(1), at: begin)]
        #expect(told == 1 && others == [true, true])
        let rest = tally.endPeriod(at: begin + .seconds(60))
        #expect(rest?.count == 3 && rest?.reason == reason(1))
        // After a period without any, the same one is news.
        #expect(tally.endPeriod(at: begin + .seconds(120)) == nil)
        #expect(tally.add("attic", reason(1), at: begin + .seconds(121)) == true)
    }

    @Test(.timeLimit(.minutes(5))) func theCountComesByItself() async throws {
        let events = Mutex<[String]>([])
        let refusals = Refusals(RefusalTally(period: .milliseconds(20))) { event in
            switch event {
            case .refused: events.withLock { $0.append("one") }
            case .refusedMore(let count, let address, _): events.withLock { $0.append("\(count) \(address)") }
            default: break
            }
        }
        for number in 1...20 { refusals.add("address \(number)", because: reason(number)) }
        let run = Task { await refusals.run() }
        try await eventually("the count", within: .seconds(300)) { events.withLock { $0.count } == 9 }
        run.cancel()
        await run.value
        #expect(events.withLock { $0 } == Array(repeating: "one", count: 8) + ["12 address 20"])
    }

    @Test func whatIsLeftIsToldInTheEnd() async {
        let events = Mutex<[Int]>([])
        let refusals = Refusals { event in
            if case .refusedMore(let count, _, _) = event { events.withLock { $0.append(count) } }
        }
        for number in 1...20 { refusals.add("address \(number)", because: reason(number)) }
        let run = Task { await refusals.run() }
        run.cancel()
        await run.value
        #expect(events.withLock { $0 } == [12])
    }
}
