import PeerSyncModel
import Testing

@testable import PeerSync
@testable import PeerSyncProtocol

/// Who came to sync once waits for the other side's files, but not for ever.
struct FileWaitTests {
    /// Lets a machine sync once with a peer that holds the same records, and says of files what it is told to.
    private func syncOnce(
        _ kitchen: LoopbackMachine, saying words: [Message]
    ) async throws {
        let peer = RawPeer()
        _ = try await kitchen.engine.store.peers.add(key: peer.identity.publicKey.bytes, name: "raw")
        try await peer.answering { line in
            try await peer.begin(&line)
            for word in words { try await line.send(word) }
            while let message = try await line.receive() {
                if case .goodbye = message { return }
                guard case .digest(let zone, let theirs) = message else { continue }
                // Both stores are empty.
                let summary = ZoneSummary(current: .start, received: nil, digest: theirs.digest, refused: 0)
                try await line.send(.digest(zone: zone, summary))
            }
        } while: { port in
            kitchen.engine.deadlines.files = .milliseconds(20)
            try await kitchen.call(port, SessionCall(isOnce: true))
        }
    }

    private func isToldOfFiles(_ kitchen: LoopbackMachine) -> Bool {
        kitchen.events.contains { if case .assetsUnsettled(name: "raw") = $0 { true } else { false } }
    }

    @Test(.timeLimit(.minutes(5))) func aPeerThatNeverSaysWhatItWantsIsNotWaitedForForEver() async throws {
        let kitchen = try LoopbackMachine("kitchen")
        try await syncOnce(kitchen, saying: [])
        #expect(isToldOfFiles(kitchen))
    }

    @Test(.timeLimit(.minutes(5))) func aPeerThatWantsFilesAndDoesNotAskIsNotWaitedForForEver() async throws {
        let kitchen = try LoopbackMachine("kitchen")
        try await syncOnce(kitchen, saying: [.assetsWanted(Message.AssetsWanted(files: 1, bytes: 9))])
        #expect(isToldOfFiles(kitchen))
    }

    @Test(.timeLimit(.minutes(5))) func aPeerThatWantsNothingIsNotWaitedFor() async throws {
        let kitchen = try LoopbackMachine("kitchen")
        try await syncOnce(kitchen, saying: [.assetsWanted(Message.AssetsWanted(files: 0, bytes: 0))])
        #expect(!isToldOfFiles(kitchen))
    }

    @Test func eachStepOfAFileBeginsTheWaitAnew() {
        let begin = ContinuousClock.now
        var wait = FileWait()
        // As long as records are on their way, files are not waited for.
        wait.step(at: begin)
        #expect(!wait.isOver(after: .seconds(60), at: begin + .seconds(3600)))
        wait.start(at: begin)
        wait.start(at: begin + .seconds(50))
        #expect(!wait.isOver(after: .seconds(60), at: begin + .seconds(59)))
        #expect(wait.isOver(after: .seconds(60), at: begin + .seconds(60)))
        wait.step(at: begin + .seconds(59))
        #expect(!wait.isOver(after: .seconds(60), at: begin + .seconds(118)))
        #expect(wait.isOver(after: .seconds(60), at: begin + .seconds(119)))
    }
}
