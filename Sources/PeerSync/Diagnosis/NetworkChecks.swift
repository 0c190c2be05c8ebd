/// What the facts of this machine on its networks say.
enum NetworkChecks {
    static func listener(_ facts: DiagnosticFacts) -> [Finding] {
        guard let network = facts.network else { return [] }
        let missing: [Finding] = network.hasAddress ? [] : [Finding(.problem, .noNetwork)]
        switch network.listener {
        case .nobody:
            // A machine that only connects to others syncs, too.
            return missing + [Finding(.warning, .notListening, number: Int64(network.port))]
        case .other: return missing + [Finding(.problem, .portTaken, number: Int64(network.port))]
        case .thisStore(let addresses):
            let open = network.listener.open
            guard !open.isEmpty else {
                return missing
                    + addresses.prefix(1).map { Finding(.warning, .listeningToItself, subject: $0) }
            }
            return missing + open.map { Finding(.fine, .listening, subject: $0) }
        }
    }

    static func firewall(_ facts: DiagnosticFacts) -> [Finding] {
        guard let network = facts.network else { return [] }
        let port = Int64(network.port)
        return switch network.firewall {
        case .open: []
        case .blocks(let program): [Finding(.problem, .firewallBlocks, subject: program, number: port)]
        case .mayBlock(let program): [Finding(.warning, .firewallMayBlock, subject: program, number: port)]
        }
    }

    static func discovery(_ facts: DiagnosticFacts) -> [Finding] {
        guard case .missing(let name)? = facts.network?.discovery else { return [] }
        return [Finding(.warning, .noDiscovery, subject: name)]
    }
}
