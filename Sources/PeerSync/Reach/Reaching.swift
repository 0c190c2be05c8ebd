import PeerSyncStore

/// The addresses of a paired machine, one after the other: where it is found, where it was last, and what somebody typed.
struct Reaching {
    /// How long to wait for a machine to be found before the other addresses are tried. Mostly it takes a tenth.
    static let patience: Duration = .milliseconds(1500)
    /// How long after that, when it was at none of them: the machine, or this one, may be busy.
    static let furtherPatience: Duration = .milliseconds(3500)

    private let engine: SyncEngine
    private let peer: Peer
    private let typed: PeerAddress?
    private let finder: Finder

    init(_ engine: SyncEngine, _ peer: Peer, _ typed: PeerAddress?, _ finder: Finder) {
        self.engine = engine
        self.peer = peer
        self.typed = typed
        self.finder = finder
    }

    /// Where to try, in this order. Anybody can announce addresses in the machine's name that hold each attempt up, so its last
    /// address comes first if it is announced, and after one attempt otherwise.
    private func addresses(last: PeerAddress?) -> [PeerAddress] {
        let found = finder.addresses(of: peer.publicKey)
        let isFound = last.map(found.contains) ?? false
        return (isFound ? [] : found.prefix(1)) + [last].compactMap(\.self) + found
            + [typed].compactMap(\.self)
    }

    /// Gives the first result. An address at which the machine is not leads to the next one.
    ///
    /// - Throws: ``PeerSyncError``: `unreachable` if the machine is at none of them; what `dial` throws about the machine
    ///   itself.
    func first<Value>(_ dial: (PeerAddress) async throws -> Value) async throws -> Value {
        var tried: Set<PeerAddress> = []
        var failure: PeerSyncError?
        for patience in [Self.patience, Self.furtherPatience] {
            await wait(for: patience, orElse: tried)
            // The pairing may have got another address meanwhile.
            let known = try await engine.store.peers.find(key: peer.publicKey) ?? peer
            for address in addresses(last: known.address.flatMap { PeerAddress($0) })
            where tried.insert(address).inserted {
                do {
                    return try await dial(address)
                } catch let error as PeerSyncError where error.isAboutAddress {
                    // What is wrong where the machine is announced says more than an old address without anybody.
                    if failure?.code != .otherMachine { failure = error }
                }
            }
        }
        throw failure
            ?? PeerSyncError(
                .unreachable, "\(peer.name) is not found on this network, and has no address from before")
    }

    /// Waits until the machine is found at an address that was not tried.
    private func wait(for time: Duration, orElse tried: Set<PeerAddress>) async {
        guard engine.discovery.discovery != nil else { return }
        await finder.wait(for: time) { [peer] in
            !tried.isSuperset(of: $0.addresses(of: peer.publicKey)) || $0.hasFailed
        }
    }
}

extension PeerSyncError {
    /// Whether the error only says that the machine is not at this address: whoever is there has not proved to be it.
    var isAboutAddress: Bool {
        cameBeforeProof || [.unreachable, .otherMachine, .noPeer, .otherApp].contains(code)
    }
}
