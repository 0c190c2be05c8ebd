import PeerSyncStore

/// The addresses of a paired machine, one after the other: where it is found, where it was last, and what somebody typed.
///
/// A machine that somebody has just started anew is announced at its former addresses for some moments. So this looks again
/// after each address at which the machine is not.
struct Reaching {
    /// How long to wait for a machine to be found before the other addresses are tried. Mostly it takes a tenth.
    static let patience: Duration = .milliseconds(1500)
    /// How long to wait after that in all, when it was at none of the addresses: the machine, or this one, may be busy.
    static let furtherPatience: Duration = .milliseconds(3500)
    /// The most attempts. Anybody can announce one address after the other in the machine's name.
    static let attemptLimit = 2 * Finder.addressLimit

    private struct Attempts {
        /// For each address that was tried, the announcements that named it then. A new one says that somebody has just come there.
        var places: [PeerAddress: Set<String>] = [:]
        /// What was found out about the machine.
        var failure: PeerSyncError?
    }

    let engine: SyncEngine
    let peer: Peer
    let typed: PeerAddress?
    let finder: Finder

    /// Gives the first result. An address at which the machine is not leads to the next one.
    ///
    /// - Throws: ``PeerSyncError``: `unreachable` if the machine is at none of them; `interrupted` when this side gave up; `storeBusy` and the like if this machine's
    ///   store cannot be read; what `dial` throws about the machine itself.
    func first<Value>(_ dial: (PeerAddress) async throws -> Value) async throws -> Value {
        var attempts = Attempts()
        var patience = Self.furtherPatience
        try await wait(for: Self.patience, after: attempts)
        for _ in 0..<Self.attemptLimit {
            guard let address = try await next(after: attempts, &patience) else { break }
            attempts.places[address, default: []].formUnion(names(of: address))
            do {
                return try await dial(address)
            } catch let error as PeerSyncError where error.isAboutAddress {
                // What is wrong where the machine is announced says more than an old address without anybody, and both say more
                // than a host that may only have its name.
                let isFirst = attempts.failure == nil
                if isFirst || attempts.failure?.code != .otherMachine && address != typed {
                    attempts.failure = error
                }
            }
        }
        let isNowhere = try await places(after: attempts).isEmpty
        let failure = attempts.failure
        if let failure, failure.code != .unreachable || !isNowhere { throw failure }
        // A machine's name need not be the name of a host.
        let hasAddress = typed.map { $0.host.lowercased() != peer.name.lowercased() } ?? false
        throw PeerSyncError(
            .unreachable,
            "\(peer.name) is paired, but is not found on this network and has no address from before"
                + (hasAddress ? "" : "; give its address") + (failure.map { " (\($0.message))" } ?? ""))
    }

    /// The next address to try. It waits if there is none yet.
    ///
    /// - Parameter patience: how long it may still wait.
    private func next(after attempts: Attempts, _ patience: inout Duration) async throws -> PeerAddress? {
        if let address = try await untried(after: attempts) { return address }
        let begin = ContinuousClock.now
        try await wait(for: patience, after: attempts)
        patience -= ContinuousClock.now - begin
        return try await untried(after: attempts)
    }

    /// Where to try next.
    private func untried(after attempts: Attempts) async throws -> PeerAddress? {
        let places = try await places(after: attempts) + [typed].compactMap(\.self)
        return places.first { isNews($0, after: attempts) }
    }

    /// Where the machine is announced, and where it may be from before.
    private func places(after attempts: Attempts) async throws -> [PeerAddress] {
        // The pairing may have got another address meanwhile.
        let known: Peer
        do {
            known = try await engine.store.peers.find(key: peer.publicKey) ?? peer
        } catch let error where !(error is CancellationError) {
            // A busy store is worth another attempt, and an address without anybody is not.
            let failure = attempts.failure?.code == .unreachable ? nil : attempts.failure
            throw failure ?? PeerSyncError(store: error)
        }
        return known.places(found: finder.addresses(of: peer.publicKey))
    }

    private func isNews(_ address: PeerAddress, after attempts: Attempts) -> Bool {
        attempts.places[address].map { !names(of: address).isSubset(of: $0) } ?? true
    }

    /// The names of the announcements of the machine that name an address.
    private func names(of address: PeerAddress) -> Set<String> {
        Set(
            finder.announcements(of: peer.publicKey).filter { $0.addresses.contains(address) }.map(\.name))
    }

    /// Waits until the machine is found where nobody has tried.
    private func wait(for time: Duration, after attempts: Attempts) async throws {
        guard engine.discovery.discovery != nil else { return }
        try await finder.wait(for: time) { [self] finder in
            finder.hasFailed
                || finder.addresses(of: peer.publicKey).contains { isNews($0, after: attempts) }
        }
    }
}

extension Peer {
    /// Where sync looks for the machine, in this order: where it is announced, where it was last, and where others say that it is.
    ///
    /// - Parameter found: the machines that ``SyncEngine/machines(within:)`` has found.
    public func places(among found: [FoundMachine]) -> [PeerAddress] {
        places(found: found.filter { $0.peer == name }.flatMap(\.addresses))
    }

    /// Where to look for the machine, in this order, each address once. Anybody can announce addresses in the machine's name
    /// that hold each attempt up, so its last address comes first if it is announced, and after one attempt otherwise.
    ///
    /// - Parameter found: where it is announced. Only the first ones count.
    func places(found: [PeerAddress]) -> [PeerAddress] {
        let found = found.prefix(Finder.addressLimit)
        let known = dialled.compactMap { PeerAddress($0) }
        let isFound = known.contains { found.contains($0) }
        var seen: Set<PeerAddress> = []
        return ((isFound ? [] : found.prefix(1)) + known + found).filter { seen.insert($0).inserted }
    }
}

extension PeerSyncError {
    /// Whether the error only says that the machine is not at this address: whoever is there has not proved to be it.
    var isAboutAddress: Bool {
        cameBeforeProof || [.unreachable, .otherMachine, .noPeer, .otherApp].contains(code)
    }
}
