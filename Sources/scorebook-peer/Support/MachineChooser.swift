import ArgumentParser
import Foundation
import PeerSync
import Scorebook

/// The choice of a machine among those that are found on this network.
struct MachineChooser {
    let engine: SyncEngine
    let store: OpenStore

    /// Lists what is found, and lets somebody at a terminal choose.
    ///
    /// - Throws: ``Failure``, with the code of wrong usage if nobody can choose.
    func choose() async throws -> NamedMachine {
        let machines = try await engine.machines()
        guard !machines.isEmpty else {
            throw Failure(
                .unavailable,
                "no other machine with a scorebook is found on this network; run `scorebook-peer listen` there, or give its "
                    + "address")
        }
        guard Terminal.isInputATerminal else {
            let list = machines.map(\.text).joined(separator: "; ")
            throw Failure(ExitCode(64), "say which machine to connect to; found on this network: \(list)")
        }
        for (number, machine) in machines.enumerated() {
            Terminal.writeError("\(number + 1)  \(machine.text)")
        }
        while let line = await Terminal.answer(to: "Which one, 1 to \(machines.count)?") {
            let word = line.trimmingCharacters(in: .whitespaces)
            guard let number = Int(word), machines.indices.contains(number - 1) else {
                if word.isEmpty { break }
                continue
            }
            return try await named(machines[number - 1])
        }
        throw Failure(.temporaryFailure, "no machine was chosen")
    }

    private func named(_ machine: FoundMachine) async throws -> NamedMachine {
        if let name = machine.peer, let argument = MachineArgument(argument: name) {
            return try await argument.machine(in: store)
        }
        return .at(machine.addresses[0])
    }
}

extension FoundMachine {
    /// As in `kitchen (192.168.1.20:7431)`.
    var text: String {
        let place = addresses[0].description
        if let peer { return "\(Display.printable(peer)) (\(place))" }
        return "\(place), not paired" + (showsCode ? ", shows a pairing code" : "")
    }
}
