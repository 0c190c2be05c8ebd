import Foundation
import NIOCore
import PeerSync
import TestSupport
import Testing

/// The lists of Linux about sockets and neighbours.
struct NetworkTablesTests {
    @Test func socketsThatListen() {
        let sockets = ListeningSockets(
            text: """
                  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
                   0: 00000000:1D07 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0
                   1: 0100007F:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12 1 0
                   2: 1401A8C0:1D07 0201A8C0:D431 01 00000000:00000000 00:00000000 00000000  1000        0 13 1 0
                   3: 00000000000000000000000001000000:1D08 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 14 1
                garbage
                """)
        #expect(sockets.entries.map(\.address) == ["0.0.0.0:7431", "127.0.0.1:22", "[::1]:7432"])
        #expect(sockets.entries.map(\.inode) == ["4711", "12", "14"])
    }

    #if os(Linux)
        /// The program that has the store open may also serve its page.
        @Test func whatListensForOthersIsNoListenerOfTheStore() async throws {
            try await withTemporaryDirectory { folder in
                let database = folder.appendingPathComponent("app.sqlite")
                try Data().write(to: database)
                let file = try FileHandle(forReadingFrom: database)
                defer { try? file.close() }
                try await withListener { channel in
                    let port = try #require(channel.localAddress?.port)
                    func listener(_ ports: [Int]?) async -> NetworkFacts.Listener {
                        await NetworkFacts.observed(
                            port: 1, database: database.path, ports: ports, firewall: { _ in .open },
                            discovery: .running, probe: nil
                        ).listener
                    }
                    #expect(await listener([port]) == .thisStore(addresses: ["127.0.0.1:\(port)"]))
                    #expect(await listener([]) == .nobody)
                    guard case .thisStore(let addresses) = await listener(nil) else {
                        Issue.record("nobody knows the ports, and nothing counts")
                        return
                    }
                    #expect(addresses.contains("127.0.0.1:\(port)"))
                }
            }
        }
    #endif

    private let neighbours = """
        IP address       HW type     Flags       HW address            Mask     Device
        192.168.1.1      0x1         0x2         ee:12:05:36:91:8d     *        wlan0
        192.168.1.20     0x1         0x0         00:00:00:00:00:00     *        wlan0
        192.168.1.21     0x1         0x2         ee:12:05:36:91:8e     *        wlan0
        10.0.0.1         0x1         0x0         00:00:00:00:00:00     *        eth0
        10.0.0.2         0x1         0x0         00:00:00:00:00:00     *        eth0

        """
    private let routes = """
        Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
        wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0
        wlan0\t0001A8C0\t00000000\t0001\t0\t0\t600\t00FFFFFF\t0\t0\t0
        eth0\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0

        """

    @Test func neighboursThatDoNotAnswer() {
        let table = NeighbourTable(neighbours: neighbours, routes: routes, wireless: ["wlan0"])
        #expect(table.neighbour("192.168.1.20") == .silent(isWireless: true))
        #expect(table.neighbour("192.168.1.21") == .unknown)
        #expect(table.neighbour("192.168.1.99") == .unknown)
        // When the way out does not answer either, the network is at fault.
        #expect(table.neighbour("10.0.0.2") == .unknown)
        let wired = NeighbourTable(neighbours: neighbours, routes: routes, wireless: [])
        #expect(wired.neighbour("192.168.1.20") == .silent(isWireless: false))
        // Without a way out nothing can be held against it.
        #expect(
            NeighbourTable(neighbours: neighbours, routes: "", wireless: []).neighbour("192.168.1.20")
                == .unknown)
    }
}
