import Foundation
import TestSupport
import Testing

#if os(Linux)
    /// Machines on hosts of their own, whose network or firewall keeps them apart: the doctor says which.
    @Suite(.takingTurns) struct DoctorNetworkTests {
        /// Two paired machines of which the first one listens, and a third host that is the way out.
        private func withListener(_ body: (Machine, Machine) async throws -> Void) async throws {
            try await withNetwork("kitchen", "study", "router") { _, machines in
                let (kitchen, study) = (machines[0], machines[1])
                try await study.pair(with: kitchen)
                _ = try await kitchen.listen(port: 7431)
                try await body(kitchen, study)
            }
        }

        private func nft(_ machine: Machine, _ rules: String) throws {
            let namespace = try #require(machine.host?.namespace)
            try Network.run("ip", "netns", "exec", namespace, Network.tool("nft").path, rules)
        }

        private func block(_ machine: Machine, policy: String = "accept", _ rules: String...) throws {
            try nft(machine, "add table inet t")
            try nft(machine, "add chain inet t in { type filter hook input priority 0; policy \(policy); }")
            for rule in rules { try nft(machine, "add rule inet t in \(rule)") }
        }

        @Test func aPortThatAFirewallDrops() async throws {
            try await withListener { kitchen, study in
                #expect(try await study.doctor("10.77.0.1").problems.isEmpty)
                try block(kitchen, "tcp dport 7431 drop")
                let there = try await study.doctor("10.77.0.1")
                #expect(there.exitCode == 69 && there.problems == ["noAnswer"], "\(there)")
                #expect(
                    there.finding("noAnswer")?.text.contains(
                        "sudo scorebook-peer doctor --store ~/.local/share/scorebook-peer") == true)
                let here = try await kitchen.doctor(port: 7431)
                #expect(here.exitCode == 69 && here.problems == ["firewallBlocks"], "\(here)")
                #expect(here.codes.contains("listening"))
                // It finds out itself where this machine listens.
                let elsewhere = try await kitchen.doctor(port: 1)
                #expect(elsewhere.finding("firewallBlocks")?.number == 7431, "\(elsewhere)")
            }
        }

        @Test func aPortThatAFirewallRejects() async throws {
            try await withListener { kitchen, study in
                try block(kitchen, "tcp dport { 22, 7431 } reject with tcp reset")
                #expect(try await study.doctor("10.77.0.1").problems == ["connectionRefused"])
                #expect(try await kitchen.doctor(port: 7431).problems == ["firewallBlocks"])
                try nft(kitchen, "flush ruleset")
                try block(kitchen, "tcp dport 7431 reject with icmpx type admin-prohibited")
                #expect(try await study.doctor("10.77.0.1").problems == ["noWay"])
                try nft(kitchen, "flush ruleset")
                try block(kitchen, policy: "drop", "ct state established accept")
                let closed = try await kitchen.doctor(port: 7431)
                #expect(closed.exitCode == 0 && closed.codes.contains("firewallMayBlock"), "\(closed)")
                try nft(kitchen, "add rule inet t in tcp dport 7431 accept")
                #expect(try await !kitchen.doctor(port: 7431).codes.contains("firewallMayBlock"))
            }
        }

        @Test func aMachineThatIsGoneWhileTheWayOutAnswers() async throws {
            try await withListener { kitchen, study in
                let namespace = try #require(study.host?.namespace)
                try Network.run("ip", "-n", namespace, "route", "add", "default", "via", "10.77.0.3")
                // The way out is known as one that answers.
                try Network.run(
                    "ip", "-n", namespace, "neighbour", "replace", "10.77.0.3", "lladdr", "02:00:00:00:00:03",
                    "dev", "eth0", "nud", "permanent")
                try kitchen.host?.setLink(up: false)
                try Network.run("ip", "-n", namespace, "neighbour", "flush", "10.77.0.1")
                let said = try await study.doctor("10.77.0.1")
                #expect(said.exitCode == 69 && said.problems == ["nobodyThere"], "\(said)")
            }
        }

        @Test func noNetworkAtAll() async throws {
            try await withListener { kitchen, study in
                let namespace = try #require(study.host?.namespace)
                try Network.run("ip", "-n", namespace, "link", "delete", "eth0")
                #expect(try await study.doctor("10.77.0.1").problems == ["noNetwork", "noWay"])
                _ = kitchen
            }
        }
    }
#endif
