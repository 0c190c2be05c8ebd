import PeerSyncChannel
import PeerSyncProtocol

/// Pairing without an address: this machine finds the one that shows a code.
extension SyncEngine {
    /// How long this machine looks for further machines that show a code, after it has found one.
    private static let furtherTime: Duration = .milliseconds(800)

    /// Pairs with the machine on this network that shows a code, and syncs with it once. From then on ``run()`` keeps the two
    /// in step.
    ///
    /// This machine tries the code with nobody when several machines show one: each attempt that fails counts there.
    ///
    /// - Parameters:
    ///   - code: what the other machine shows.
    ///   - union: what becomes of the two default zones, if that has to be decided; nil asks the engine's `decide`.
    /// - Throws: ``PeerSyncError``: `noMachineFound`, `severalMachinesFound`, `noDiscovery`; what ``pair(code:at:union:)`` throws.
    @discardableResult
    public func pair(code: PairingCode, union: ZoneUnion? = nil) async throws -> SyncReport {
        let shown = try await machinesThatShowCodes()
        guard let machine = shown.first else {
            throw PeerSyncError(.noMachineFound, "no machine on this network shows a pairing code")
        }
        guard shown.count == 1 else {
            let places = shown.map { $0[0].description }.joined(separator: " and ")
            throw PeerSyncError(
                .severalMachinesFound,
                "\(shown.count) machines on this network show a pairing code at this moment, at \(places)")
        }
        return try await pair(code, at: machine, expecting: .anyone, union)
    }

    /// Pairs with the machine on this network that shows a code, as ``pair(code:union:)`` does.
    ///
    /// - Parameter code: the code as a person types it: `123-456` or `123456`.
    /// - Throws: ``PeerSyncError``: `invalidInput` when the text is no code; what ``pair(code:union:)`` throws.
    @discardableResult
    public func pair(code: String) async throws -> SyncReport {
        try await pair(code: Self.code(code), union: nil)
    }

    /// - Throws: ``PeerSyncError`` `invalidInput`.
    static func code(_ typed: String) throws -> PairingCode {
        guard let code = try? PairingCode(typed) else {
            throw PeerSyncError(.invalidInput, "a pairing code has six digits, as 123-456")
        }
        return code
    }

    /// Pairs with the machine that shows a code at an address, and syncs with it once.
    ///
    /// - Throws: ``PeerSyncError``: `unreachable`; `interrupted` also when the service shuts down; and what ended the pairing.
    ///   `CancellationError` when the task is cancelled. Errors of SQLite when the store cannot be read.
    @discardableResult
    public func pair(
        code: PairingCode, at address: PeerAddress, union: ZoneUnion? = nil
    ) async throws -> SyncReport {
        try await SyncConnector(self, to: address, expecting: .anyone, code: code, union: union).syncOnce()
    }

    /// Pairs with the machine of a link, wherever it is, and syncs with it once.
    ///
    /// - Throws: ``PeerSyncError``: `otherApp`, `otherMachine`; what ``pair(code:at:union:)`` throws.
    @discardableResult
    public func pair(link: PairingLink, union: ZoneUnion? = nil) async throws -> SyncReport {
        guard link.app == app else {
            throw PeerSyncError(.otherApp, "this pairing link is for another app, \(link.app)")
        }
        let expected = ExpectedMachine.hash(link.keyHash)
        do {
            return try await pair(link.code, at: link.addresses, expecting: expected, union)
        } catch let error as PeerSyncError where error.isAboutAddress {
            // The addresses may be those of another network that the machine is in.
            var others: [PeerAddress] = []
            do {
                others = try await machinesThatShowCodes(until: { !$0.isEmpty }).flatMap(\.self)
            } catch let error as PeerSyncError where error.code == .noDiscovery {
                // What is wrong at the addresses of the link says more.
            }
            others.removeAll { link.addresses.contains($0) }
            return try await pair(
                link.code, at: others, expecting: expected, union, after: error)
        }
    }

    /// The addresses of the machines that show a code, for each machine.
    ///
    /// - Throws: ``PeerSyncError``: `noDiscovery`; `interrupted` when the service shuts down. `CancellationError` when the task is
    ///   cancelled.
    public func machinesThatShowCodes() async throws -> [[PeerAddress]] {
        try await machinesThatShowCodes(until: { _ in false })
    }

    private func machinesThatShowCodes(
        until isEnough: @escaping @Sendable ([[PeerAddress]]) -> Bool
    ) async throws -> [[PeerAddress]] {
        guard discovery.discovery != nil else {
            throw PeerSyncError(.noDiscovery, "looking for machines on this network is switched off")
        }
        let finder = Finder(self, tellsTrouble: false)
        let shown: @Sendable (Finder) -> [[PeerAddress]] = { finder in
            Self.distinct(finder.found.filter(\.announcement.showsCode).map(\.service.addresses))
        }
        let patience = deadlines.search
        try await tellingCancellation {
            try await withFinder(finder) {
                try await finder.wait(for: patience) { !shown($0).isEmpty || $0.hasFailed }
                if !isEnough(shown(finder)), !finder.hasFailed {
                    try await finder.wait(for: Self.furtherTime) { isEnough(shown($0)) }
                }
            }
        }
        let result = shown(finder)
        if result.isEmpty, finder.hasFailed {
            throw PeerSyncError(.noDiscovery, "machines on this network cannot be found at this moment")
        }
        return result
    }

    /// Leaves out announcements of a machine that is there already: while it renews its announcement, it has two, and one has
    /// all addresses of the other. An impostor that adds its own address to those of a machine is another one.
    private static func distinct(_ machines: [[PeerAddress]]) -> [[PeerAddress]] {
        machines.reduce(into: []) { distinct, addresses in
            let known = distinct.firstIndex { other in
                Set(other).isSubset(of: addresses) || Set(addresses).isSubset(of: other)
            }
            guard let known else { return distinct.append(addresses) }
            // What both have, so that the address of an impostor is not tried.
            distinct[known] = distinct[known].filter(Set(addresses).contains)
        }
    }

    /// Pairs at the first of some addresses that answers.
    ///
    /// - Parameter failure: why it failed at the addresses before these.
    private func pair(
        _ code: PairingCode, at addresses: [PeerAddress], expecting expected: ExpectedMachine,
        _ union: ZoneUnion?,
        after failure: PeerSyncError = PeerSyncError(
            .unreachable, "the machine that shows the code is not found on this network")
    ) async throws -> SyncReport {
        var failure = failure
        for address in addresses {
            do {
                return try await SyncConnector(
                    self, to: address, expecting: expected, code: code, union: union
                )
                .syncOnce()
            } catch let error as PeerSyncError where error.isAboutAddress {
                if failure.code != .otherMachine { failure = error }
            }
        }
        throw failure
    }
}
