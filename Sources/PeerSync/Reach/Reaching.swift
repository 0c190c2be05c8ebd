import PeerSyncStore

/// The addresses of a paired machine, one after the other: where it is found, where it was last, and what somebody typed.
struct Reaching {
    /// How long to wait for a machine to be found before the other addresses are tried. Mostly it takes a tenth.
    static let patience: Duration = .milliseconds(1500)

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

    /// Gives the first result. An address at which the machine is not leads to the next one.
    ///
    /// - Throws: ``PeerSyncError``: `unreachable` if the machine is at none of them; what `dial` throws about the machine
    ///   itself.
    func first<Value>(_ dial: (PeerAddress) async throws -> Value) async throws -> Value {
        var tried: Set<PeerAddress> = []
        var failure: PeerSyncError?
        if engine.discovery.discovery != nil {
            await finder.wait(for: Self.patience) { [peer] in
                !$0.addresses(of: peer.publicKey).isEmpty || $0.hasFailed
            }
        }
        // The pairing may have got another address meanwhile.
        let known = try await engine.store.peers.find(key: peer.publicKey) ?? peer
        let addresses =
            finder.addresses(of: peer.publicKey)
            + [known.address.flatMap { PeerAddress($0) }, typed].compactMap(\.self)
        for address in addresses where tried.insert(address).inserted {
            do {
                return try await dial(address)
            } catch let error as PeerSyncError where error.isAboutAddress {
                // What is wrong where the machine is announced says more than an old address without anybody.
                if failure?.code != .otherMachine { failure = error }
            }
        }
        throw failure
            ?? PeerSyncError(
                .unreachable, "\(peer.name) is not found on this network, and has no address from before")
    }
}

extension PeerSyncError {
    /// Whether the error only says that the machine is not at this address.
    fileprivate var isAboutAddress: Bool {
        [.unreachable, .otherMachine, .noPeer, .otherApp].contains(code)
    }
}
