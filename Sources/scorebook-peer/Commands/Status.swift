import ArgumentParser
import RecordStore
import Scorebook

struct Status: StoreCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say what the scorebook holds, and how it stands with the other machines.",
        discussion: "Two scorebooks hold the same records when their digests are equal.")

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: OutputOptions

    func run(_ store: OpenStore) async throws {
        let records = store.scorebook.records
        // What other programs wrote counts, so it is taken in first.
        try await records.foldPendingChanges()
        let status = try await records.database.read { try records.status($0) }
        if output.json {
            try Terminal.write(
                json: Figures(
                    store: store.directory.path, key: store.identity.publicKey.hex,
                    digest: status.digest.hex, live: Int(status.digest.count), records: status.records,
                    tombstones: status.tombstones, held: status.held, pending: status.pending,
                    peers: status.peers.map(PeerFigures.init)))
        } else {
            write(status, store)
        }
    }

    private struct Figures: Encodable {
        let store: String
        let key: String
        let digest: String
        let live: Int
        let records: [String: Int]
        let tombstones: Int
        let held: Int
        let pending: Int
        let peers: [PeerFigures]
    }

    private func write(_ status: StoreStatus, _ store: OpenStore) {
        var rows = [
            ["store", store.directory.path], ["key", String(store.identity.publicKey.hex.prefix(16)) + "…"],
        ]
        for kind in RecordKind.allCases {
            rows.append([kind.recordType, (status.records[kind.recordType] ?? 0).grouped])
        }
        rows.append(["deleted", "\(status.tombstones.grouped) remembered"])
        if status.held > 0 { rows.append(["held", "\(status.held.grouped) wait for a record they need"]) }
        rows.append([
            "pending", status.pending == 0 ? "nothing" : "\(status.pending.grouped) not on every machine yet",
        ])
        if status.clockAhead > RecordStore.defaultAllowedSkew {
            rows.append([
                "clock",
                "wrote \(Duration.milliseconds(status.clockAhead).formatted()) in the future; see scorebook-peer clock",
            ])
        }
        rows.append(["digest", "\(status.digest.hex) over \(Int(status.digest.count).counted("record"))"])
        Terminal.write(aligned(rows))
        guard !status.peers.isEmpty else { return }
        Terminal.write("\n" + aligned([PeerFigures.header] + status.peers.map { PeerFigures($0).row }))
        for peer in status.peers {
            if let error = peer.lastError { Terminal.write("\(peer.name): \(error)") }
        }
    }
}
