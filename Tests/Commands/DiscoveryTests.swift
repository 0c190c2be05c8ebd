import Foundation
import PeerSyncChannel
import PeerSyncProtocol
import TestSupport
import Testing

#if os(Linux)
    /// Machines on hosts of their own find each other through Avahi. Nobody types an address.
    @Suite(.takingTurns) struct DiscoveryTests {
        /// The strings of an announcement, as Avahi wants them.
        private func strings(_ announcement: Announcement) -> [String] {
            var rest = announcement.text[...]
            var strings: [String] = []
            while let length = rest.popFirst() {
                strings.append(String(decoding: rest.prefix(Int(length)), as: UTF8.self))
                rest = rest.dropFirst(Int(length))
            }
            return strings
        }

        @Test func sixDigitsAndNothingElseMakeTwoMachinesOne() async throws {
            try await withDiscovery("kitchen", "study") { _, machines, _ in
                let (kitchen, study) = (machines[0], machines[1])
                try await kitchen.addGame("Catan")
                // It works while the others are live.
                let listener = try await kitchen.listenOpenly()
                try await study.pairByDigits(with: kitchen)
                #expect(try await listener.event("paired").peer == "study")
                // Within two seconds, where nothing else runs: `scripts/household` prints the time.
                let caller = try await study.listenOpenly()
                try await caller.event("inSync")
                try await kitchen.addGame("Azul")
                try await eventually("the game") {
                    try study.rows("SELECT name FROM SBGame ORDER BY name") == ["Azul", "Catan"]
                }
                #expect(try await haveEqualDigests(kitchen, study))
            }
        }

        /// A household of three, and one of them is lost for good while another one is off.
        @Test func sixDigitsTwiceMakeThreeMachinesOne() async throws {
            try await withDiscovery("kitchen", "study", "attic") { _, machines, _ in
                let (kitchen, study, attic) = (machines[0], machines[1], machines[2])
                _ = try await kitchen.listenOpenly()
                try await study.pairByDigits(with: kitchen)
                let first = try await study.listenOpenly()
                try await attic.pairByDigits(with: kitchen)
                let last = try await attic.listenOpenly()
                // Nobody has paired the attic with the study.
                try await eventually("the attic and the study meet") {
                    try last.events("inSync").contains { $0.peer == "study" }
                        || first.events("inSync").contains { $0.peer == "attic" }
                }
                try await attic.addGame("Catan")
                for machine in [kitchen, study] {
                    try await eventually("the game") {
                        try machine.rows("SELECT name FROM SBGame") == ["Catan"]
                    }
                }
                first.signal(SIGTERM)
                #expect(try await first.end() == 0)
                try await kitchen.peer("peers", "forget", "attic", "--everywhere", "--yes")
                try await last.event("disconnected")
                let again = try await study.listenOpenly()
                try await again.event("removed")
                try await attic.addGame("From a machine that is lost")
                try await kitchen.addGame("Azul")
                try await eventually("the other game") {
                    try study.rows("SELECT name FROM SBGame ORDER BY name") == ["Azul", "Catan"]
                }
                #expect(try await attic.run("connect", "study", "--once").isSentence(77))
                #expect(try attic.rows("SELECT COUNT(*) FROM SBGame") == ["2"])
                #expect(try await haveEqualDigests(kitchen, study))
            }
        }

        @Test func aMachineThatLeavesAndComesBackOnAnotherPort() async throws {
            try await withDiscovery("kitchen", "study") { _, machines, _ in
                let (kitchen, study) = (machines[0], machines[1])
                try await kitchen.introduce(to: study)
                let first = try await kitchen.listenOpenly()
                let caller = try await study.listenOpenly()
                try await caller.event("inSync")
                first.signal(SIGTERM)
                #expect(try await first.end() == 0)
                try await caller.event("disconnected")
                let list = try await study.peer("peers")
                #expect(!list.contains("found"))
                let second = try await kitchen.listenOpenly()
                try await second.event("inSync")
                #expect(try await study.peer("connect", "kitchen", "--once").contains("in sync with kitchen"))
                #expect(try await study.peer("verify", "kitchen").contains("no record differed"))
                // As people write it.
                #expect(try await study.peer("verify", "Kitchen").contains("no record differed"))
            }
        }

        @Test func anotherAddress() async throws {
            try await withDiscovery("kitchen", "study") { _, machines, _ in
                let (kitchen, study) = (machines[0], machines[1])
                try await kitchen.introduce(to: study)
                _ = try await kitchen.listenOpenly()
                let caller = try await study.listenOpenly()
                try await caller.event("inSync")
                try kitchen.host?.move(to: "10.77.0.99")
                try await kitchen.addGame("Written after the move")
                try await eventually("the game", within: .seconds(60)) {
                    try study.rows("SELECT COUNT(*) FROM SBGame") == ["1"]
                }
                #expect(try await study.peer("connect", "kitchen", "--once").contains("in sync with kitchen"))
            }
        }

        /// Every device has such an address, also where nothing gives out others.
        @Test func addressesOfOneLinkAlone() async throws {
            try await withDiscovery("kitchen", "study") { _, machines, _ in
                let (kitchen, study) = (machines[0], machines[1])
                try await kitchen.introduce(to: study)
                for machine in machines { try machine.host?.removeAddress() }
                _ = try await kitchen.listenOpenly("--host", "::", "--passive")
                let caller = try await study.listenOpenly("--host", "::", "--hidden")
                try await caller.event("inSync")
                let address = try study.rows("SELECT address FROM grdb_sync_peer").first ?? ""
                #expect(address.hasPrefix("[fe80::") && address.contains("%eth0]:"))
            }
        }

        @Test func twoNetworksThatOneMachineIsIn() async throws {
            try await withNetwork(["kitchen", "study", "attic"]) { scene, network, machines in
                for index in [0, 1] { try network.addSecondLink(to: #require(machines[index].host)) }
                // The study is in the second network only.
                try machines[1].host?.setLink(up: false)
                try await Avahi.start(machines.compactMap(\.host).map { try Avahi(scene, on: $0) })
                let (kitchen, study, attic) = (machines[0].onBus, machines[1].onBus, machines[2].onBus)
                try await kitchen.introduce(to: study, attic)
                _ = try await kitchen.listenOpenly("--passive")
                for end in [study, attic] { try await end.listenOpenly().event("inSync") }
                try await study.addGame("From the study")
                try await eventually("the game") { try attic.rows("SELECT COUNT(*) FROM SBGame") == ["1"] }
            }
        }

        @Test func aDaemonThatEndsAndComesBack() async throws {
            try await withDiscovery("kitchen", "study", "attic") { _, machines, avahis in
                let (kitchen, study, attic) = (machines[0], machines[1], machines[2])
                try await kitchen.introduce(to: study, attic)
                let listener = try await kitchen.listenOpenly()
                try await study.listenOpenly().event("inSync")
                avahis[0].kill()
                #expect(try await listener.event("discoveryTrouble").reason?.contains("Avahi") == true)
                try await study.addGame("Written without Avahi")
                try await eventually("the game") { try kitchen.rows("SELECT COUNT(*) FROM SBGame") == ["1"] }
                let other = try await attic.listenOpenly()
                try await avahis[0].restart()
                try await listener.event("discoveryTroubleEnded")
                try await other.event("inSync")
                #expect(try listener.events("discoveryTrouble").count == 1)
                #expect(listener.errors.isEmpty)
            }
        }

        @Test func aBusThatEnds() async throws {
            try await withDiscovery("kitchen", "study") { _, machines, avahis in
                let (kitchen, study) = (machines[0], machines[1])
                try await kitchen.introduce(to: study)
                let listener = try await kitchen.listenOpenly()
                try await study.listenOpenly().event("inSync")
                avahis[0].killBus()
                try await listener.event("discoveryTrouble")
                try await study.addGame("Written without a bus")
                try await eventually("the game") { try kitchen.rows("SELECT COUNT(*) FROM SBGame") == ["1"] }
            }
        }

        @Test func anImpostorIsToldAndGetsNothing() async throws {
            try await withDiscovery("kitchen", "study", "thief") { _, machines, avahis in
                let (kitchen, study, thief) = (machines[0], machines[1], machines[2])
                try await kitchen.introduce(to: study)
                try await kitchen.addGame("Catan")
                let key = try await kitchen.peer("identity").trimmingCharacters(in: .whitespacesAndNewlines)
                let trap = try await thief.listenOpenly(port: 7431, "--hidden")
                try avahis[2].announce(
                    "thief", port: 7431,
                    strings(Announcement(of: PublicKey(hex: key), showsCode: true)))
                let caller = try await study.listenOpenly()
                let event = try await caller.event("retrying")
                #expect(event.reason?.contains("kitchen is said to be at") == true)
                #expect(try trap.events("connected").isEmpty)
                // Its announcement shows a code, but it has none.
                let outcome = try await study.run("pair", "123-456")
                #expect(outcome.isSentence(77))
                // The kitchen itself is found beside it.
                _ = try await kitchen.listenOpenly()
                try await caller.event("inSync")
                #expect(try await thief.status().digest != study.status().digest)
            }
        }

        /// The doctor looks where sync does: wherever a machine is found, at each of its addresses.
        @Test func theDoctorFindsWhatSyncFinds() async throws {
            try await withDiscovery("kitchen", "study") { _, machines, avahis in
                let (kitchen, study) = (machines[0], machines[1])
                try await kitchen.introduce(to: study)
                let alone = try await study.doctor("kitchen")
                #expect(alone.problems.isEmpty && alone.codes.contains("noAddress"), "\(alone)")
                #expect(!alone.codes.contains("noDiscovery"))
                _ = try await kitchen.listenOpenly("--host", "::")
                let found = try await study.doctor("kitchen")
                #expect(found.finding("answers")?.subject?.hasPrefix("10.77.0.1:") == true, "\(found)")
                let namespace = try #require(kitchen.host?.namespace)
                for rule in [
                    "add table inet t", "add chain inet t in { type filter hook input priority 0; }",
                    "add rule inet t in ip protocol tcp reject with tcp reset",
                ] {
                    try Network.run("ip", "netns", "exec", namespace, Network.tool("nft").path, rule)
                }
                let other = try await study.doctor()
                #expect(other.problems.isEmpty, "\(other)")
                #expect(other.finding("answers")?.subject?.hasPrefix("[fe80:") == true, "\(other)")
                avahis[1].kill()
                let without = try await study.doctor("kitchen")
                #expect(
                    without.codes.contains("noDiscovery") && without.codes.contains("noAddress"), "\(without)"
                )
            }
        }

        @Test func whoIsHiddenIsNotFound() async throws {
            try await withDiscovery("kitchen", "study") { _, machines, _ in
                let (kitchen, study) = (machines[0], machines[1])
                let hidden = try await kitchen.listenOpenly("--hidden")
                let outcome = try await study.run("connect")
                #expect(outcome.isSentence(69))
                hidden.signal(SIGTERM)
                #expect(try await hidden.end() == 0)
                _ = try await kitchen.listenOpenly()
                try await eventually("the kitchen") {
                    let outcome = try await study.run("connect")
                    return outcome.isSentence(64) && outcome.errors.contains("10.77.0.1:")
                }
                #expect(try await study.peer("peers").contains("found: 10.77.0.1:"))
            }
        }

        @Test func twoMachinesThatShowACode() async throws {
            try await withDiscovery("kitchen", "attic", "study") { _, machines, _ in
                let (kitchen, attic, study) = (machines[0], machines[1], machines[2])
                let (one, other) = (
                    try kitchen.start(["pair", "--json"]), try attic.start(["pair", "--json"])
                )
                let code = try #require(try await one.event("pairingCode").code)
                try await other.event("pairingCode")
                try await eventually("both are found") {
                    let outcome = try await study.run("pair", code)
                    return outcome.isSentence(77)
                        && outcome.errors.contains("10.77.0.1:7431 and 10.77.0.2:7431")
                        || outcome.errors.contains("10.77.0.2:7431 and 10.77.0.1:7431")
                }
                // That has used up no attempt, and the address says which one is meant.
                try await study.peer("pair", code, "--with", "10.77.0.1")
                #expect(try await one.outcome().exitCode == 0)
                #expect(try other.events("pairingFailed").isEmpty)
            }
        }

        @Test func twentyMachinesThatComeUpAtOnce() async throws {
            try await withDiscovery("kitchen", "tower") { _, machines, _ in
                let kitchen = machines[0]
                let host = try #require(machines[1].host)
                let others = (1...20).map { kitchen.scene.machine("machine \($0)").on(host) }
                try await kitchen.introduce(to: others)
                let listener = try await kitchen.listenOpenly()
                for other in others {
                    _ = try other.start(["listen", "--port", "0", "--passive", "--json"])
                }
                try await eventually("all are in sync", within: .seconds(120)) {
                    Set(try listener.events("inSync").compactMap(\.peer)).count == others.count
                }
            }
        }
    }
#endif
