import Foundation

/// What the pages about machines and browsers share while the server runs.
struct MachineTools: Sendable {
    let machines: PageMachines
    let found: FoundMachines
    let pairing: PairingDialog

    /// - Parameter onChange: tells the open pages that something has changed which is not in the store.
    init(_ machines: PageMachines, onChange: @escaping @Sendable () -> Void) {
        self.machines = machines
        found = FoundMachines(machines.engine, onChange: onChange)
        pairing = PairingDialog(machines.engine, onChange: onChange)
        machines.questions.whenChanged(onChange)
    }
}
