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

    /// Looks at all addresses of a machine until it answers at one.
    ///
    /// - Returns: what came of that address, or of the first one, which is where sync looks first.
    private func facts(of place: PeerPlace) async -> PeerFacts {
        var first: PeerFacts?
        for address in place.addresses {
            let facts = await facts(of: place, at: address)
            guard case .machine(let answer)? = facts.outcome, answer.key == facts.noted?.key else {
                first = first ?? facts
                continue
            }
            return facts
        }
        return first ?? PeerFacts(name: place.name, noted: place.noted, address: nil, outcome: nil)
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
