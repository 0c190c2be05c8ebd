import PeerSync

/// A look at other machines, over the network.
struct PeerExamination: Sendable {
    let probe: PeerProbe
    /// The paired machines: whoever answers at an address may be one of them.
    let known: [PeerPlace]

    /// How many machines are called at a time.
    private static let calls = 8

    /// Calls machines, and gathers what came of it, in the order of the places.
    func facts(_ places: [PeerPlace]) async -> [PeerFacts] {
        var facts: [Int: PeerFacts] = [:]
        await withTaskGroup(of: (number: Int, facts: PeerFacts).self) { group in
            for (number, place) in places.enumerated() {
                if number >= Self.calls, let done = await group.next() { facts[done.number] = done.facts }
                group.addTask { (number, await self.facts(of: place)) }
            }
            for await done in group { facts[done.number] = done.facts }
        }
        return places.indices.compactMap { facts[$0] }
    }

    /// Looks at the addresses of a machine until it answers at one: at the first one, and if it is not there, at all others at
    /// a time. Where nobody answers, each takes seconds.
    ///
    /// - Returns: what came of the address where it answers, otherwise of the first one, which is where sync looks first.
    private func facts(of place: PeerPlace) async -> PeerFacts {
        guard let address = place.addresses.first else {
            return PeerFacts(name: place.name, noted: place.noted, address: nil, outcome: nil)
        }
        let first = await facts(of: place, at: address)
        if Self.isThere(first) { return first }
        return await withTaskGroup(of: PeerFacts.self) { group in
            for address in place.addresses.dropFirst() {
                group.addTask { await self.facts(of: place, at: address) }
            }
            defer { group.cancelAll() }
            return await group.first(where: Self.isThere) ?? first
        }
    }

    /// Whether the machine that was looked for has answered.
    private static func isThere(_ facts: PeerFacts) -> Bool {
        if case .machine(let answer)? = facts.outcome { answer.key == facts.noted?.key } else { false }
    }

    private func facts(of place: PeerPlace, at address: PeerAddress) async -> PeerFacts {
        let outcome = await probe.call(address)
        // The call has just asked for the neighbour, if it is one.
        let neighbour: PeerFacts.Neighbour =
            if case .unreachable = outcome { NeighbourTable()?.neighbour(address.host) ?? .unknown } else {
                .unknown
            }
        var place = place
        if place.noted == nil, case .machine(let answer) = outcome,
            let peer = known.first(where: { $0.noted?.key == answer.key })
        {
            place = peer
        }
        return PeerFacts(
            name: place.name, noted: place.noted, address: address.description, outcome: outcome,
            neighbour: neighbour)
    }
}
