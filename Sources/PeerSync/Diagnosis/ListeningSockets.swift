import Foundation
import NIOCore

/// The TCP sockets of this machine that wait for connections, as Linux lists them in `/proc/net/tcp` and `/proc/net/tcp6`.
public struct ListeningSockets: Sendable {
    /// One socket.
    public struct Entry: Sendable, Equatable {
        /// `0.0.0.0`, `192.168.1.20`, `::`.
        public let host: String
        /// Its port.
        public let port: Int
        /// The number by which the files of a process name it.
        public let inode: String

        /// The text for people, `host:port`.
        public var address: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }

    /// All of them.
    public let entries: [Entry]

    /// Reads the system's lists; nil on a system that has no such lists.
    public init?() {
        guard let four = try? String(contentsOfFile: "/proc/net/tcp", encoding: .utf8) else { return nil }
        let six = (try? String(contentsOfFile: "/proc/net/tcp6", encoding: .utf8)) ?? ""
        self.init(text: four + six)
    }

    /// Reads lists that somebody has read before.
    public init(text: String) {
        entries = text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            // 0A is the state of a socket that listens.
            guard words.count > 9, words[3] == "0A" else { return nil }
            let parts = words[1].split(separator: ":")
            guard parts.count == 2, let port = Int(parts[1], radix: 16), let host = Self.host(parts[0]) else {
                return nil
            }
            return Entry(host: host, port: port, inode: String(words[9]))
        }
    }

    /// An address in hexadecimal, in words of four bytes, each in the order of this machine: least byte first.
    private static func host(_ digits: Substring) -> String? {
        guard digits.count == 8 || digits.count == 32, digits.allSatisfy(\.isHexDigit) else { return nil }
        var bytes: [UInt8] = []
        for word in stride(from: 0, to: digits.count, by: 8) {
            let start = digits.index(digits.startIndex, offsetBy: word)
            guard let value = UInt32(digits[start..<digits.index(start, offsetBy: 8)], radix: 16) else {
                return nil
            }
            bytes += (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
        }
        return (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0))?.ipAddress
    }

    /// The sockets of the processes that have a file open, as far as this user may see their files.
    public func entries(ofProcessesWith path: String) -> [Entry] {
        let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let files = FileManager.default
        var inodes: Set<String> = []
        for process in (try? files.contentsOfDirectory(atPath: "/proc")) ?? [] where Int(process) != nil {
            let directory = "/proc/\(process)/fd"
            let links = ((try? files.contentsOfDirectory(atPath: directory)) ?? []).compactMap {
                try? files.destinationOfSymbolicLink(atPath: "\(directory)/\($0)")
            }
            guard links.contains(path) else { continue }
            inodes.formUnion(
                links.filter { $0.hasPrefix("socket:[") }.map { String($0.dropFirst(8).dropLast()) })
        }
        return entries.filter { inodes.contains($0.inode) }
    }
}
