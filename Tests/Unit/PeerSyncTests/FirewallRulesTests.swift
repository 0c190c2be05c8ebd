import PeerSync
import Testing

/// What programs print of their rules, and what that does with the port.
struct FirewallRulesTests {
    private func chain(_ policy: String, _ rules: String...) -> String {
        "table inet filter {\n\tchain input {\n\t\ttype filter hook input priority filter; policy \(policy);\n"
            + rules.map { "\t\t\($0)\n" }.joined() + "\t}\n}\n"
    }

    private func nftables(_ text: String) -> NetworkFacts.Firewall {
        FirewallRules.nftables(text, port: 7431)
    }

    @Test func rulesOfNftables() {
        let blocks = NetworkFacts.Firewall.blocks(program: "nftables")
        let mayBlock = NetworkFacts.Firewall.mayBlock(program: "nftables")
        #expect(nftables("") == .open)
        #expect(nftables(chain("accept")) == .open)
        #expect(nftables(chain("accept", "tcp dport 7431 drop")) == blocks)
        #expect(nftables(chain("accept", "tcp dport 7431 counter packets 0 bytes 0 reject")) == blocks)
        #expect(
            nftables(chain("accept", "tcp dport { 22, 7431 } reject with icmpx admin-prohibited")) == blocks)
        #expect(nftables(chain("accept", "tcp dport 7000-8000 drop")) == blocks)
        #expect(nftables(chain("accept", "tcp dport 74310 drop", "tcp dport { 22, 743 } drop")) == .open)
        #expect(nftables(chain("drop")) == mayBlock)
        #expect(
            nftables(chain("drop", "ct state established,related accept", "iif \"lo\" accept")) == mayBlock)
        #expect(nftables(chain("drop", "tcp dport 7431 accept")) == .open)
        #expect(nftables(chain("accept", "iif \"lo\" accept", "counter packets 0 bytes 0 drop")) == mayBlock)
        #expect(nftables(chain("accept", "ip saddr 10.0.0.1 drop")) == .open)
        // The first rule that names it decides.
        #expect(nftables(chain("accept", "tcp dport 7431 accept", "tcp dport 7431 drop")) == .open)
    }

    @Test func onlyWhatComesInCounts() {
        let output = chain("drop", "tcp dport 7431 drop").replacing("hook input", with: "hook output")
        #expect(nftables(output) == .open)
        #expect(
            nftables(chain("accept") + chain("drop", "tcp dport 7431 drop")) == .blocks(program: "nftables"))
    }

    @Test(arguments: [
        ("-P INPUT ACCEPT\n", NetworkFacts.Firewall.open),
        ("-P INPUT DROP\n", .mayBlock(program: "iptables")),
        ("-P INPUT DROP\n-A INPUT -p tcp -m tcp --dport 7431 -j ACCEPT\n", .open),
        ("-P INPUT ACCEPT\n-A INPUT -p tcp -m tcp --dport 7431 -j DROP\n", .blocks(program: "iptables")),
        (
            "-P INPUT ACCEPT\n-A INPUT -p tcp -m multiport --dports 22,7431 -j REJECT --reject-with tcp-reset\n",
            .blocks(program: "iptables")
        ),
        ("-P INPUT ACCEPT\n-A INPUT -p tcp -m tcp --dport 7000:7500 -j DROP\n", .blocks(program: "iptables")),
        ("-P INPUT ACCEPT\n-A INPUT -p tcp -m tcp --dport 22 -j DROP\n", .open),
        ("-P INPUT ACCEPT\n-A INPUT -i lo -j ACCEPT\n-A INPUT -j DROP\n", .mayBlock(program: "iptables")),
        ("-P INPUT ACCEPT\n-A INPUT -s 10.0.0.1/32 -j DROP\n", .open),
    ])
    func rulesOfIptables(text: String, firewall: NetworkFacts.Firewall) {
        #expect(FirewallRules.iptables(text, port: 7431) == firewall)
    }

    @Test(arguments: [
        ("Status: inactive\n", NetworkFacts.Firewall.open),
        ("Status: active\n", .mayBlock(program: "ufw")),
        ("Status: active\n\nTo        Action  From\n7431/tcp  ALLOW   Anywhere\n", .open),
        ("Status: active\n\nTo        Action  From\n7431      LIMIT   Anywhere\n", .open),
        ("Status: active\n\nTo        Action  From\nourapp    ALLOW   Anywhere\n", .open),
        ("Status: active\n\nTo        Action  From\n7431/tcp  DENY    Anywhere\n", .blocks(program: "ufw")),
        ("Status: active\n\nTo        Action  From\n22/tcp    ALLOW   Anywhere\n", .mayBlock(program: "ufw")),
    ])
    func rulesOfUfw(text: String, firewall: NetworkFacts.Firewall) {
        #expect(FirewallRules.ufw(text, port: 7431, profile: "ourapp") == firewall)
    }

    @Test(arguments: [
        ("Firewall is disabled. (State = 0)\n", NetworkFacts.Firewall.open),
        ("Firewall is enabled. (State = 1) \n", .mayBlock(program: "macOS")),
        (
            "Firewall is blocking all non-essential incoming connections. (State = 2)\n",
            .mayBlock(program: "macOS")
        ),
    ])
    func theStateOfTheFirewallOfMacOS(text: String, firewall: NetworkFacts.Firewall) {
        #expect(FirewallRules.macOS(text) == firewall)
    }
}
