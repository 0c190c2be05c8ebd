import Foundation
import Testing

/// Hosts of the test's own, each a network namespace, that a switch connects; for Linux and root.
///
/// Nothing of it is seen from outside: the switch is a bridge in a namespace as well.
final class Network {
    /// A host, and its end of the cable to the switch.
    struct Host {
        let namespace: String
        let address: String
        /// The bus that leads to the host's own Avahi, if programs are to use that.
        var bus: String?
        /// Where that bus is. ``Keeper`` takes it away.
        var busSocket: String { "/tmp/\(namespace).bus" }
        fileprivate let port: String
        fileprivate let network: Network

        /// How a program is started on the host, in the same process.
        func command(_ program: URL, _ arguments: [String]) -> (program: URL, arguments: [String]) {
            (Network.tool("ip"), ["netns", "exec", namespace, program.path] + arguments)
        }

        /// Pulls the cable out of the switch, or plugs it in again.
        func setLink(up isUp: Bool) throws {
            try Network.run("ip", "-n", network.bridge, "link", "set", port, isUp ? "up" : "down")
        }

        /// Takes the host's address away, and gives it another one.
        func move(to address: String) throws {
            try Network.run("ip", "-n", namespace, "address", "delete", self.address + "/24", "dev", "eth0")
            try Network.run("ip", "-n", namespace, "address", "add", address + "/24", "dev", "eth0")
        }

        /// Takes all IPv4 addresses away. Those of IPv6 that every device has stay.
        func removeAddress() throws {
            try Network.run("ip", "-n", namespace, "-4", "address", "flush", "dev", "eth0")
        }

        /// Lets no more than so many bits a second leave the host.
        func throttle(bitsPerSecond: Int) throws {
            try Network.run(
                "tc", "-n", namespace, "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate",
                "\(bitsPerSecond)bit", "burst", "4kb", "latency", "300ms")
        }
    }

    /// The namespace that the switch is in.
    fileprivate let bridge: String
    private let name: String
    private var hasSecondSwitch = false
    private(set) var hosts: [Host] = []
    private let keeper: Keeper

    fileprivate init() throws {
        // Short, because the names of network devices are.
        name = "sb" + String(UInt32.random(in: 0...UInt32.max), radix: 36)
        bridge = name
        keeper = try Keeper(of: name)
        try Self.run("ip", "netns", "add", bridge)
        try Self.run("ip", "-n", bridge, "link", "add", "switch", "type", "bridge")
        try Self.run("ip", "-n", bridge, "link", "set", "switch", "up")
    }

    func addHost() throws -> Host {
        let number = hosts.count + 1
        let host = Host(
            namespace: "\(name)-\(number)", address: "10.77.0.\(number)", port: "port\(number)", network: self
        )
        hosts.append(host)
        try Self.run("ip", "netns", "add", host.namespace)
        try Self.run("ip", "-n", host.namespace, "link", "set", "lo", "up")
        try Self.run(
            "ip", "-n", host.namespace, "link", "add", "eth0", "type", "veth", "peer", "name", host.port,
            "netns", bridge)
        try Self.run("ip", "-n", host.namespace, "address", "add", host.address + "/24", "dev", "eth0")
        try Self.run("ip", "-n", host.namespace, "link", "set", "eth0", "up")
        try Self.run("ip", "-n", bridge, "link", "set", host.port, "master", "switch", "up")
        return host
    }

    /// Connects the host to a second switch, from which nothing leads to the first one.
    func addSecondLink(to host: Host) throws {
        if !hasSecondSwitch {
            try Self.run("ip", "-n", bridge, "link", "add", "switch2", "type", "bridge")
            try Self.run("ip", "-n", bridge, "link", "set", "switch2", "up")
            hasSecondSwitch = true
        }
        let port = host.port + "b"
        try Self.run(
            "ip", "-n", host.namespace, "link", "add", "eth1", "type", "veth", "peer", "name", port, "netns",
            bridge)
        let address = host.address.replacing("10.77.", with: "10.78.")
        try Self.run("ip", "-n", host.namespace, "address", "add", address + "/24", "dev", "eth1")
        try Self.run("ip", "-n", host.namespace, "link", "set", "eth1", "up")
        try Self.run("ip", "-n", bridge, "link", "set", port, "master", "switch2", "up")
    }

    /// Takes the hosts away, with all that still runs there.
    fileprivate func clear() { keeper.clear() }

    // MARK: Tools

    static func tool(_ name: String) -> URL {
        let candidates = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map { "\($0)/\(name)" }
        let path = candidates.first { FileManager.default.isExecutableFile(atPath: $0) }
        return URL(fileURLWithPath: path ?? "/usr/sbin/\(name)")
    }

    static func run(_ name: String, _ arguments: String...) throws {
        let process = Process()
        let errors = Pipe()
        process.executableURL = tool(name)
        process.arguments = arguments
        process.standardError = errors
        try process.run()
        let text = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw NetworkFailure(
                command: ([name] + arguments).joined(separator: " "),
                text: String(decoding: text, as: UTF8.self))
        }
    }
}

/// A network could not be made or changed.
struct NetworkFailure: Error, CustomStringConvertible {
    let command: String
    let text: String

    var description: String { "\(command): \(text)" }
}

/// Runs a test on machines that each have a host of their own.
func withNetwork(_ names: String..., body: (Scene, [Machine]) async throws -> Void) async throws {
    try await withNetwork(names) { scene, _, machines in try await body(scene, machines) }
}

func withNetwork(
    _ names: [String], body: (Scene, Network, [Machine]) async throws -> Void
) async throws {
    try await withScene { scene in
        let network = try Network()
        // After the processes that run there.
        scene.atEnd { network.clear() }
        let machines = try names.map { scene.machine($0).on(try network.addHost()) }
        try await body(scene, network, machines)
    }
}
