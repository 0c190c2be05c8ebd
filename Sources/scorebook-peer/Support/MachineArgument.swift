import ArgumentParser
import PeerSync
import Scorebook

/// A machine as people name it: by the name of a paired machine, or by an address.
struct MachineArgument: ExpressibleByArgument {
    let text: String

    init?(argument: String) {
        let argument = NegativeNumber.unmasked(argument)
        // A name has at most 64 bytes, and may have blanks; with a colon it is an address that is written wrongly.
        let isName = (1...64).contains(argument.utf8.count) && !argument.contains(":")
        guard isName || PeerAddress(argument) != nil else { return nil }
        text = argument
    }

    /// Finds out which machine is meant. A paired machine's name comes before the name of a host.
    ///
    /// - Throws: ``Failure`` if it is neither.
    func machine(in store: OpenStore) async throws -> NamedMachine {
        let peers = try await store.scorebook.records.peers.all()
        if let number = peers.number(named: text) {
            return .paired(peers[number], typed: text.contains(":") ? nil : PeerAddress(text))
        }
        guard let address = PeerAddress(text) else {
            throw Failure(
                .dataError, "“\(Display.printable(text))” is neither a paired machine nor an address")
        }
        return .at(address)
    }
}

extension [Peer] {
    /// The index of the machine that somebody names. Other capitals do not matter, unless two names differ only in these.
    func number(named name: String) -> Int? {
        if let number = firstIndex(where: { $0.name == name }) { return number }
        let alike = indices.filter { self[$0].name.lowercased() == name.lowercased() }
        return alike.count == 1 ? alike[0] : nil
    }
}

/// A machine to connect to.
enum NamedMachine: Sendable, CustomStringConvertible {
    /// A paired machine, wherever it is; also tried at the host of that name, if there may be one.
    case paired(Peer, typed: PeerAddress?)
    case at(PeerAddress)

    var description: String {
        switch self {
        case .paired(let peer, _): Display.printable(peer.name)
        case .at(let address): address.description
        }
    }

    func connector(
        _ engine: SyncEngine, code: PairingCode? = nil, startsOver: Bool = false, union: ZoneUnion? = nil
    ) -> SyncConnector {
        switch self {
        case .paired(let peer, let typed):
            SyncConnector(engine, to: peer, orAt: typed, startsOver: startsOver, union: union)
        case .at(let address):
            SyncConnector(engine, to: address, code: code, startsOver: startsOver, union: union)
        }
    }
}
