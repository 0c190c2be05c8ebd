import NIOCore
import PeerSync

/// The addresses at which other machines reach this one.
enum OwnAddresses {
    /// Returns the IPv4 addresses, except that of this machine alone.
    static func reachable(port: Int) -> [PeerAddress] {
        let devices = (try? System.enumerateDevices()) ?? []
        return devices.compactMap { device in
            guard let ip = device.address?.ipAddress, ip != "127.0.0.1", !ip.contains(":") else { return nil }
            return PeerAddress(host: ip, port: port)
        }
    }
}
