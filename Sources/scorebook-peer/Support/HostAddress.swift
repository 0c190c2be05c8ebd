import ArgumentParser
import PeerSync
import SecureChannel

/// A host with an optional port: `kitchen`, `192.168.1.5:7431`, `[fe80::1]:7431`, `::1`.
struct HostAddress: ExpressibleByArgument {
    let host: String
    let port: Int

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        if argument.hasPrefix("[") {
            guard let end = argument.firstIndex(of: "]") else { return nil }
            let rest = argument[argument.index(after: end)...]
            self.init(String(argument[argument.index(after: argument.startIndex)..<end]), rest)
            return
        }
        // More than one colon without brackets is an IPv6 address without a port.
        guard let colon = argument.firstIndex(of: ":"), argument.lastIndex(of: ":") == colon else {
            self.init(argument, "")
            return
        }
        self.init(String(argument[..<colon]), argument[colon...])
    }

    private init?(_ host: String, _ portWithColon: Substring) {
        guard !host.isEmpty else { return nil }
        self.host = host
        if portWithColon.isEmpty {
            port = SyncEngine.defaultPort
            return
        }
        guard portWithColon.first == ":", let port = Int(portWithColon.dropFirst()),
            (1...65_535).contains(port)
        else {
            return nil
        }
        self.port = port
    }
}

extension PairingCode: ExpressibleByArgument {
    public init?(argument: String) {
        try? self.init(argument)
    }
}
