import Foundation

/// The neighbours of this machine on its networks, as Linux lists them in `/proc/net/arp`, and the way out of each network
/// from `/proc/net/route`.
public struct NeighbourTable: Sendable {
    private struct Entry {
        let device: String
        let isKnown: Bool
    }

    private var neighbours: [String: Entry] = [:]
    /// The address of the gateway of each device that has one.
    private var gateways: [String: String] = [:]
    private let wireless: Set<String>

    /// Reads the system's lists; nil on a system that has no such lists.
    public init?() {
        guard let neighbours = try? String(contentsOfFile: "/proc/net/arp", encoding: .utf8),
            let routes = try? String(contentsOfFile: "/proc/net/route", encoding: .utf8)
        else { return nil }
        let devices = (try? FileManager.default.contentsOfDirectory(atPath: "/sys/class/net")) ?? []
        self.init(
            neighbours: neighbours, routes: routes,
            wireless: Set(
                devices.filter { FileManager.default.fileExists(atPath: "/sys/class/net/\($0)/wireless") }))
    }

    /// Reads lists that somebody has read before.
    ///
    /// - Parameters:
    ///   - neighbours: the content of `/proc/net/arp`.
    ///   - routes: the content of `/proc/net/route`.
    ///   - wireless: the devices that are wireless.
    public init(neighbours: String, routes: String, wireless: Set<String>) {
        self.wireless = wireless
        for line in neighbours.split(separator: "\n").dropFirst() {
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            // The flags have the bit 2 when the neighbour has said that he has the address.
            guard words.count >= 6, let flags = Int(words[2].dropFirst(2), radix: 16) else { continue }
            self.neighbours[String(words[0])] = Entry(device: String(words[5]), isKnown: flags & 2 != 0)
        }
        for line in routes.split(separator: "\n").dropFirst() {
            let words = line.split { " \t".contains($0) }
            guard words.count >= 3, words[1] == "00000000", let gateway = UInt32(words[2], radix: 16),
                gateway != 0
            else { continue }
            // Least byte first.
            gateways[String(words[0])] = (0..<4).map { "\(gateway >> (8 * UInt32($0)) & 0xFF)" }
                .joined(separator: ".")
        }
    }

    /// What is known of the neighbour with an IPv4 address.
    public func neighbour(_ host: String) -> PeerFacts.Neighbour {
        guard let entry = neighbours[host], !entry.isKnown, let gateway = gateways[entry.device],
            gateway != host, neighbours[gateway]?.isKnown == true
        else { return .unknown }
        return .silent(isWireless: wireless.contains(entry.device))
    }
}
