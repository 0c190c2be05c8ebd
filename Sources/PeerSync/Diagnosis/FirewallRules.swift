/// What the rules of a firewall, as its own program prints them, do with connections to a TCP port.
///
/// It does not follow every rule: a rule that names the port decides, and otherwise what happens in the end to all that no
/// rule names. So it knows that a port is blocked, or says that it may be.
public enum FirewallRules {
    private enum Verdict { case accepts, stops }

    /// Reads the rule set of nftables, as `nft list ruleset` prints it.
    public static func nftables(_ text: String, port: Int) -> NetworkFacts.Firewall {
        var worst = NetworkFacts.Firewall.open
        var chain: [Substring] = []
        for line in text.split(separator: "\n").map({ $0.drop { $0.isWhitespace } }) {
            if line.hasPrefix("chain ") { chain = [] }
            chain.append(line)
            guard line == "}" else { continue }
            if chain.contains(where: { $0.contains("hook input") }) {
                worst = max(worst, judged(chain.dropFirst().map(nftablesRule(port)), program: "nftables"))
            }
            chain = []
        }
        return worst
    }

    private typealias Rule = (verdict: Verdict, namesPort: Bool, isForAll: Bool)

    private static func nftablesRule(_ port: Int) -> (Substring) -> Rule? {
        { line in
            let words = line.split { " ,{};".contains($0) }
            if let policy = words.firstIndex(of: "policy"), policy + 1 < words.count {
                return words[policy + 1] == "accept" ? nil : (.stops, false, true)
            }
            guard let verdict = verdict(words) else { return nil }
            if let dport = words.firstIndex(of: "dport") {
                let ports = words[(dport + 1)...].prefix { $0.first?.isNumber == true }
                return ports.contains { Self.range($0, holds: port) } ? (verdict, true, false) : nil
            }
            // A rule of nothing but its verdict, or with a counter or a reason, is for all.
            let isForAll = ["drop", "reject", "accept", "counter"].contains(
                words.first.map(String.init) ?? "")
            return isForAll ? (verdict, false, true) : nil
        }
    }

    /// Reads the chain INPUT of iptables, as `iptables -S INPUT` prints it.
    public static func iptables(_ text: String, port: Int) -> NetworkFacts.Firewall {
        let rules = text.split(separator: "\n").map { line -> Rule? in
            let words = line.split(separator: " ")
            if words.first == "-P" { return words.last == "ACCEPT" ? nil : (.stops, false, true) }
            guard let jump = words.firstIndex(of: "-j"), jump + 1 < words.count else { return nil }
            let verdict: Verdict
            switch words[jump + 1] {
            case "ACCEPT": verdict = .accepts
            case "DROP", "REJECT": verdict = .stops
            default: return nil
            }
            if let dport = words.firstIndex(where: { $0.hasSuffix("dport") || $0.hasSuffix("dports") }),
                dport + 1 < words.count
            {
                let names = words[dport + 1].split(separator: ",").contains { Self.range($0, holds: port) }
                return names ? (verdict, true, false) : nil
            }
            // `-A INPUT -j DROP`
            return jump == 2 ? (verdict, false, true) : nil
        }
        return judged(rules, program: "iptables")
    }

    /// Reads the answer of `ufw status`. Its rules name the port, or the profile of the app.
    ///
    /// - Parameters:
    ///   - text: what the program printed.
    ///   - port: the port that other machines connect to.
    ///   - profile: the name of the app's profile.
    public static func ufw(_ text: String, port: Int, profile: String) -> NetworkFacts.Firewall {
        let lines = text.split(separator: "\n")
        guard lines.contains("Status: active") else { return .open }
        let names = ["\(port)", "\(port)/tcp", profile]
        let rules = lines.map { line -> Rule? in
            let words = line.split(separator: " ")
            guard words.count >= 2, names.contains(String(words[0])) else { return nil }
            return (words.contains("ALLOW") || words.contains("LIMIT") ? .accepts : .stops, true, false)
        }
        // What no rule allows, it denies by default.
        return judged([(.stops, false, true)] + rules, program: "ufw")
    }

    /// Reads the answer of `socketfilterfw --getglobalstate` on macOS. It says whether the firewall is on, not which programs a
    /// person has let through.
    public static func macOS(_ text: String) -> NetworkFacts.Firewall {
        // 1 keeps out what nobody has allowed, 2 everything.
        text.contains("State = 1") || text.contains("State = 2") ? .mayBlock(program: "macOS") : .open
    }

    /// The first rule that names the port decides; otherwise whatever stops all.
    private static func judged(_ rules: [Rule?], program: String) -> NetworkFacts.Firewall {
        let rules = rules.compactMap(\.self)
        if let rule = rules.first(where: \.namesPort) {
            return rule.verdict == .accepts ? .open : .blocks(program: program)
        }
        return rules.contains { $0.isForAll && $0.verdict == .stops } ? .mayBlock(program: program) : .open
    }

    private static func verdict(_ words: [Substring]) -> Verdict? {
        if words.contains("accept") { return .accepts }
        return words.contains("drop") || words.contains("reject") ? .stops : nil
    }

    /// Whether `7431`, `7000-8000` or `7000:8000` holds a port.
    private static func range(_ text: Substring, holds port: Int) -> Bool {
        let ends = text.split { "-:".contains($0) }.map { Int($0) }
        guard let first = ends.first ?? nil, let last = ends.last ?? nil else { return false }
        return first <= port && port <= last
    }

    private static func max(_ one: NetworkFacts.Firewall, _ other: NetworkFacts.Firewall)
        -> NetworkFacts.Firewall
    {
        switch (one, other) {
        case (.blocks, _): one
        case (_, .blocks): other
        case (.mayBlock, _): one
        default: other
        }
    }
}
