import AssetModel
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore
import TestSupport

/// The files of one side of a simulated session: asks the store what to want and what to give, as the program does.
final class SimulatedFiles {
    private let replica: SimulatedReplica
    private let zones: [Zone]
    private let send: (Message) -> Void
    private var assets: ModelAssets
    /// What the store wanted when it was asked last.
    private var known = WantedAssets()
    private var isFullLookDue = true

    init(_ replica: SimulatedReplica, in zones: [Zone], send: @escaping (Message) -> Void) {
        self.replica = replica
        self.zones = zones
        self.send = send
        assets = ModelAssets(on: replica.disk)
        assets.mayPeerHave = { hash in
            try replica.read { try replica.store.assets.isReferred($0, hash, in: zones) }
        }
    }

    /// Whether both sides have the files that they want and can get.
    var isDone: Bool { assets.isDone }

    /// Whether both sides are also through with all that they have asked for.
    var isAtRest: Bool { isDone && !assets.receiver.hasBusy && !assets.receiver.isAwaitingAnswers }

    /// Finds the files that records want since the last look, and tells the peer how much that is.
    func refresh() throws {
        var begin = isFullLookDue ? 0 : known.last
        isFullLookDue = false
        var wanted = try wanted(after: begin)
        if assets.receiver.wantsAny, wanted.lastLeftover != known.lastLeftover {
            begin = 0
            wanted = try self.wanted(after: begin)
        }
        for asset in wanted.list { assets.receiver.want(asset.hash, size: asset.size) }
        if begin == 0 { assets.receiver.keepOnly(Set(wanted.list.map(\.hash))) }
        known = wanted
        try assets.tellOwed()
        sendAll()
    }

    private func sendAll() {
        assets.tell()
        for message in assets.takeOutbox() { send(message) }
    }

    private func wanted(after id: Int64) throws -> WantedAssets {
        var wanted = try replica.read {
            try replica.store.assets.candidates($0, after: id, in: zones)
        }
        wanted.list.removeAll { replica.disk.files[$0.hash] == $0.size }
        return wanted
    }

    func receive(_ message: Message) throws {
        assets.inbox.append(message)
        try assets.step(.messages)
        sendAll()
    }

    /// Another session of this machine has received a file.
    func arrived(_ hash: AssetHash) throws { try assets.arrived(hash) }

    /// Goes on up to where the session waits for its disk the next time.
    ///
    /// - Returns: whether there was anything to do.
    func step(_ random: inout SeededGenerator) throws -> Bool {
        if isFullLookDue {
            try refresh()
            return true
        }
        for strand in ModelAssets.Strand.allCases.shuffled(using: &random) where try assets.step(strand) {
            sendAll()
            return true
        }
        return false
    }

    /// Tries again to open files that another session of this machine was receiving.
    ///
    /// - Returns: whether there are any.
    func retryBusy() -> Bool {
        guard assets.receiver.hasBusy else { return false }
        assets.receiver.retryBusy()
        return true
    }
}
