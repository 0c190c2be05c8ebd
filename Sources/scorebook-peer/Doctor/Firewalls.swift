import Foundation
import PeerSync

/// The firewalls of this machine, as far as this user may see them.
enum Firewalls {
    /// The name of the profile that the package brings.
    private static let profile = "scorebook-peer"

    /// Looks whether one of them stops connections to a port. Only root sees rules.
    static func look(port: Int) -> NetworkFacts.Firewall {
        #if os(Linux)
            return geteuid() == 0 ? rules(port) : switches()
        #else
            let state = SystemProgram.run("socketfilterfw", "--getglobalstate")
            return state.map { FirewallRules.macOS($0.output) } ?? .open
        #endif
    }

    /// The program that people use to set rules says more than the rules that it makes.
    private static func rules(_ port: Int) -> NetworkFacts.Firewall {
        if let ufw = SystemProgram.run("ufw", "status"), ufw.output.contains("Status: active") {
            return FirewallRules.ufw(ufw.output, port: port, profile: profile)
        }
        if let firewalld = SystemProgram.run("firewall-cmd", "--state"), firewalld.isSuccess {
            let isOpen = SystemProgram.run("firewall-cmd", "--query-port=\(port)/tcp")?.isSuccess == true
            return isOpen ? .open : .mayBlock(program: "firewalld")
        }
        if let nftables = SystemProgram.run("nft", "list", "ruleset"), nftables.isSuccess {
            return FirewallRules.nftables(nftables.output, port: port)
        }
        if let iptables = SystemProgram.run("iptables", "-S", "INPUT"), iptables.isSuccess {
            return FirewallRules.iptables(iptables.output, port: port)
        }
        return .open
    }

    /// Everybody sees whether ufw is switched on.
    private static func switches() -> NetworkFacts.Firewall {
        let text = (try? String(contentsOfFile: "/etc/ufw/ufw.conf", encoding: .utf8)) ?? ""
        let isOn = text.split(separator: "\n").contains { $0.lowercased().hasPrefix("enabled=yes") }
        return isOn ? .mayBlock(program: "ufw") : .open
    }
}
