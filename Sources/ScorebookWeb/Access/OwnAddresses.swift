import NIOCore
import PeerSync

/// The addresses at which other machines reach this one.
public enum OwnAddresses {
    /// Returns the IPv4 addresses, except those of this machine alone.
    public static var all: [String] {
        let devices = (try? System.enumerateDevices()) ?? []
        return devices.compactMap(\.address?.ipAddress).filter { !$0.hasPrefix("127.") && !$0.contains(":") }
    }

    /// Returns the IPv4 addresses with a port, except those of this machine alone.
    public static func reachable(port: Int) -> [PeerAddress] {
        all.map { PeerAddress(host: $0, port: port) }
    }
}
