import PeerSyncModel
import Testing

@testable import PeerSync

/// Machines of two apps never exchange anything, whoever types the code of the other.
struct OtherAppTests {
    @Test(.timeLimit(.minutes(5))) func machinesOfTwoAppsNeitherPairNorSync() async throws {
        let kitchen = try LoopbackMachine("kitchen")
        let stranger = try LoopbackMachine("stranger", app: "org.example.todo")
        try await kitchen.listening { port in
            let code = try await kitchen.engine.pairing.show()
            for _ in 1...4 {
                let connector = SyncConnector(
                    stranger.engine, to: PeerAddress(host: "127.0.0.1", port: port), code: code)
                let error = await #expect(throws: PeerSyncError.self) { try await connector.syncOnce() }
                #expect(error?.code == .otherApp)
            }
            // The code has three attempts, and has them all still: a machine of the app pairs by it.
            let study = try LoopbackMachine("study")
            let connector = SyncConnector(
                study.engine, to: PeerAddress(host: "127.0.0.1", port: port), code: code)
            _ = try await connector.syncOnce()
        }
        for machine in [kitchen, stranger] {
            let peers = try await machine.engine.store.peers.all()
            #expect(peers.map(\.name) == (machine.engine.displayName == "kitchen" ? ["study"] : []))
        }
    }

    @Test(arguments: ["", "a b", "org/example", "ä", String(repeating: "a", count: 129)])
    func onlyShortASCIIIsAnAppID(text: String) {
        let error = #expect(throws: InvalidAppID.self) { try AppID(text) }
        #expect(error?.text == text)
    }

    @Test(arguments: ["a", "org.example.todo-2_3", String(repeating: "Z", count: 128)])
    func anAppIDIsItsText(text: String) throws {
        #expect(try AppID(text).description == text)
    }
}
