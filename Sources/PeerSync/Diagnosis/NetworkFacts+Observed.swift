import Foundation
import NIOCore
import NIOPosix

extension NetworkFacts {
    /// Looks at this machine.
    ///
    /// - Parameters:
    ///   - port: the port that other machines connect to, unless the store's program listens on another one.
    ///   - database: the path of the store's database.
    ///   - ports: where programs listen for the store's peers (``/PeerSyncStore/StorePairing/listeningPorts()``). The program that has
    ///     the database open may also listen for others, as for browsers. Nil if the store cannot be read.
    ///   - firewall: tells what is known of the firewall, for a port.
    ///   - discovery: whether machines could be looked for.
    ///   - probe: calls this machine itself where its system does not say who listens.
    public static func observed(
        port: Int, database: String, ports: [Int]?, firewall: (Int) async throws -> Firewall,
        discovery: Discovery, probe: PeerProbe?
    ) async rethrows -> NetworkFacts {
        let listener = await listener(port: port, database: database, ports: ports, probe: probe)
        let port = listener.port ?? port
        return NetworkFacts(
            port: port, hasAddress: hasAddress, listener: listener, firewall: try await firewall(port),
            discovery: discovery)
    }

    private static var hasAddress: Bool {
        let devices = (try? System.enumerateDevices()) ?? []
        return devices.compactMap(\.address?.ipAddress).contains {
            !NetworkAddress.isLoopback($0) && !NetworkAddress.isOfLink($0)
        }
    }

    private static func listener(port: Int, database: String, ports: [Int]?, probe: PeerProbe?) async
        -> Listener
    {
        let sockets = ListeningSockets()
        let own = (sockets?.entries(ofProcessesWith: database) ?? []).filter {
            ports?.contains($0.port) ?? true
        }
        if !own.isEmpty { return .thisStore(addresses: own.map(\.address)) }
        // Of the processes of other users the system shows only the sockets.
        let others = sockets?.entries.filter { $0.port == port } ?? []
        if sockets != nil, others.isEmpty { return .nobody }
        let isEverywhere = others.first.map { ["0.0.0.0", "::"].contains($0.host) } ?? true
        let host = isEverywhere ? "127.0.0.1" : others[0].host
        switch await probe?.call(PeerAddress(host: host, port: port)) {
        case .machine(let answer) where answer.isSelf:
            return .thisStore(addresses: others.isEmpty ? ["*:\(port)"] : others.map(\.address))
        case .unreachable where sockets == nil: return .nobody
        default: return .other
        }
    }
}
