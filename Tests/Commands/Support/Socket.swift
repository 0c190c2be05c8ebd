import Foundation
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A TCP socket on this machine. Calls block, for at most 30 seconds.
final class Socket: Sendable {
    private let descriptor: Int32

    private init(descriptor: Int32) throws {
        guard descriptor >= 0 else { throw SocketError(call: "socket") }
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        #if canImport(Darwin)
            var yes: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    deinit { close(descriptor) }

    private static func make() throws -> Socket {
        #if canImport(Darwin)
            try Socket(descriptor: socket(AF_INET, SOCK_STREAM, 0))
        #else
            try Socket(descriptor: socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        #endif
    }

    /// Connects to a port.
    static func connected(to port: Int) throws -> Socket {
        let socket = try make()
        try socket.check("connect", withAddress(port: port) { connect(socket.descriptor, $0, $1) })
        return socket
    }

    /// Listens on a free port.
    static func listening(backlog: Int32 = 16) throws -> Socket {
        let socket = try make()
        try socket.check("bind", withAddress(port: 0) { bind(socket.descriptor, $0, $1) })
        try socket.check("listen", listen(socket.descriptor, backlog))
        return socket
    }

    /// Takes a connection.
    func accepted() throws -> Socket {
        let descriptor = accept(descriptor, nil, nil)
        guard descriptor >= 0 else { throw SocketError(call: "accept") }
        return try Socket(descriptor: descriptor)
    }

    /// The port on this side.
    var port: Int {
        get throws {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
            }
            try check("getsockname", result)
            return Int(UInt16(bigEndian: address.sin_port))
        }
    }

    func send(_ bytes: some Collection<UInt8>) throws {
        guard sendUntilClosed(bytes) == bytes.count else { throw SocketError(call: "send") }
    }

    /// Sends what the other side takes before it closes the connection.
    ///
    /// - Returns: the number of bytes that were sent.
    func sendUntilClosed(_ bytes: some Collection<UInt8>) -> Int {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { buffer in
                #if canImport(Darwin)
                    Darwin.send(descriptor, buffer.baseAddress, buffer.count, 0)
                #else
                    Glibc.send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
                #endif
            }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        return bytes.count - rest.count
    }

    /// What has come, at most `limit` bytes; empty when the other side has closed the connection, cleanly or not.
    func receive(atMost limit: Int = 65_536) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = recv(descriptor, &bytes, limit, 0)
        guard count >= 0 || errno == ECONNRESET else { throw SocketError(call: "recv") }
        return Array(bytes.prefix(max(count, 0)))
    }

    /// Everything until the other side closes.
    func receiveAll() throws -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let bytes = try receive()
            if bytes.isEmpty { return all }
            all += bytes
        }
    }

    /// Ends both directions; whoever waits in a call on the socket comes back.
    func shutDown() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private func check(_ call: String, _ result: Int32) throws {
        guard result == 0 else { throw SocketError(call: call) }
    }

    private static func withAddress(
        port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

/// A call of the socket interface failed.
struct SocketError: Error, CustomStringConvertible {
    let call: String
    let number = errno

    var description: String { "\(call): \(String(cString: strerror(number)))" }
}

/// Runs on a thread of its own, because it blocks.
func inBackground(_ body: @escaping @Sendable () throws -> Void) {
    Thread { try? body() }.start()
}
