import Foundation
import TestSupport
import Testing

#if os(Linux)
    /// An Avahi of one host, with a bus of its own: nothing of them is seen from other hosts or from this computer.
    final class Avahi {
        private let scene: Scene
        private let host: Network.Host
        private let files: URL
        private var bus: PeerProcess?
        private var daemon: PeerProcess?

        init(_ scene: Scene, on host: Network.Host) throws {
            self.scene = scene
            self.host = host
            files = scene.directory.appendingPathComponent("avahi-\(host.namespace)", isDirectory: true)
            try FileManager.default.createDirectory(
                at: files.appendingPathComponent("services"), withIntermediateDirectories: true)
        }

        /// The bus. Its path has to be short.
        private var socket: String { host.busSocket }

        private var address: String { "unix:path=\(socket)" }

        private func write(_ name: String, _ text: String) throws -> String {
            let url = files.appendingPathComponent(name)
            try text.write(to: url, atomically: true, encoding: .utf8)
            return url.path
        }

        /// Starts both on each host, and waits until all hosts can be found.
        static func start(_ avahis: [Avahi]) async throws {
            for avahi in avahis { try avahi.beginBus() }
            for avahi in avahis {
                try await eventually("the bus") { FileManager.default.fileExists(atPath: avahi.socket) }
                try avahi.beginDaemon()
            }
            for avahi in avahis { try await avahi.isReady() }
        }

        func restart() async throws {
            try beginDaemon()
            try await isReady()
        }

        private func beginBus() throws {
            let file = try write(
                "bus.conf",
                """
                <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
                 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
                <busconfig><type>system</type><listen>\(address)</listen><auth>EXTERNAL</auth>
                <policy context="default"><allow user="*"/><allow own="*"/>
                <allow send_destination="*" eavesdrop="true"/><allow receive_sender="*" eavesdrop="true"/>
                <allow eavesdrop="true"/></policy></busconfig>
                """)
            bus = try run(
                "'\(Network.tool("dbus-daemon").path)' --config-file='\(file)' --nofork --nopidfile")
        }

        private func beginDaemon() throws {
            let file = try write(
                "avahi.conf",
                """
                [server]
                host-name=\(host.namespace)
                use-ipv4=yes
                use-ipv6=yes
                allow-interfaces=eth0,eth1
                [publish]
                publish-workstation=no
                publish-hinfo=no
                """)
            daemon = try run(
                "'\(Network.tool("avahi-daemon").path)' -f '\(file)' --no-drop-root --no-chroot --no-rlimits")
        }

        private func isReady() async throws {
            try await eventually("Avahi on \(host.namespace): \(daemon?.errors ?? "")") {
                daemon?.errors.contains("Server startup complete") == true
            }
        }

        /// Starts a program with directories of the host's own in place of the system's.
        ///
        /// A shell waits for it. A daemon closes all files that it inherits, and Foundation would take that for its end, and
        /// wait for it in the place in which it looks for the end of all other processes.
        private func run(_ command: String) throws -> PeerProcess {
            let script = """
                mkdir -p /run/avahi-daemon /etc/avahi/services
                mount -t tmpfs none /run/avahi-daemon
                mount --bind '\(files.path)/services' /etc/avahi/services
                \(command) &
                wait
                """
            return try scene.start(
                ["-m", "/bin/sh", "-c", script], of: Network.tool("unshare"),
                environment: ["DBUS_SYSTEM_BUS_ADDRESS": address], on: host)
        }

        /// Ends the daemon at once; the bus stays.
        func kill() { daemon?.destroy() }

        func killBus() { bus?.destroy() }

        /// Lets the host announce a service with a text of ours from now on: Avahi watches the folder.
        func announce(_ name: String, port: Int, _ text: [String]) throws {
            let records = text.map { "<txt-record>\($0)</txt-record>" }.joined()
            _ = try write(
                "services/\(name).service",
                """
                <?xml version="1.0" standalone='no'?><!DOCTYPE service-group SYSTEM "avahi-service.dtd">
                <service-group><name>\(name)</name><service><type>_scorebook-peer._tcp</type>
                <port>\(port)</port>\(records)</service></service-group>
                """)
        }
    }

    /// Runs a test on machines with a host and an Avahi each. The machines do not know each other.
    func withDiscovery(
        _ names: String..., body: (Network, [Machine], [Avahi]) async throws -> Void
    ) async throws {
        try await withNetwork(names) { scene, network, machines in
            let avahis = try machines.compactMap(\.host).map { try Avahi(scene, on: $0) }
            try await Avahi.start(avahis)
            try await body(network, machines.map { $0.onBus }, avahis)
        }
    }

    extension Machine {
        /// The same machine, whose programs use the Avahi of its host.
        var onBus: Machine {
            guard var host else { return self }
            host.bus = "unix:path=\(host.busSocket)"
            return on(host)
        }

        /// Listens on every address, so that others find it.
        func listenOpenly(port: Int = 0, _ extra: String...) async throws -> PeerProcess {
            let process = try start(["listen", "--port", "\(port)", "--name", name, "--json"] + extra)
            try await process.event("listening")
            return process
        }

        /// Makes two machines know each other, by six digits and nothing else.
        func pairByDigits(with other: Machine) async throws {
            let showing = try other.start(["pair", "--port", "0", "--name", other.name, "--json"])
            let code = try #require(try await showing.event("pairingCode").code)
            try await peer("pair", code, "--name", name)
            #expect(try await showing.outcome().exitCode == 0)
        }

        /// Makes this machine and others know each other without any connection.
        func introduce(to others: Machine...) async throws { try await introduce(to: others) }

        func introduce(to others: [Machine]) async throws {
            // All at once: each command takes its time.
            let identities = try ([self] + others).map {
                ($0, try $0.start(["identity"]), try $0.start(["peers"]))
            }
            var keys: [(machine: Machine, key: String)] = []
            for (machine, identity, peers) in identities {
                try #require(try await peers.outcome().exitCode == 0)
                let key = try await identity.outcome().output.trimmingCharacters(in: .whitespacesAndNewlines)
                keys.append((machine, key))
            }
            let own = keys.removeFirst()
            for other in keys {
                for (machine, peer) in [(own, other), (other, own)] {
                    try machine.machine.write(
                        """
                        INSERT INTO grdb_sync_peer (publicKey, name, pairedAt)
                        VALUES (X'\(peer.key)', '\(peer.machine.name)', '2026-01-01T00:00:00Z')
                        """)
                }
            }
        }
    }
#endif
