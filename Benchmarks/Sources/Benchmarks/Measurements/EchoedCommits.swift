import Foundation
import GRDB

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The least that it takes to have something on two machines: a commit, bytes over a bare TCP connection, and a commit
/// on the other side before the answer.
final class EchoedCommits: Sendable {
    private let database: DatabaseQueue
    private let bytes: Int
    private let descriptor: Int32

    /// - Parameters:
    ///   - databases: two databases with the scorebook's tables and nothing that captures writes.
    ///   - bytes: how many are sent, and come back.
    init(_ databases: (here: DatabaseQueue, there: DatabaseQueue), bytes: Int) throws {
        database = databases.here
        self.bytes = bytes
        let listener = try Self.checked(socket(AF_INET, Self.stream, 0))
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = try Self.checked(socket(AF_INET, Self.stream, 0))
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = try Self.checked(bind(listener, address, length))
                _ = try Self.checked(listen(listener, 1))
                _ = try Self.checked(getsockname(listener, address, &length))
                _ = try Self.checked(connect(descriptor, address, length))
            }
        }
        self.descriptor = descriptor
        let accepted = try Self.checked(accept(listener, nil, nil))
        for end in [descriptor, accepted] {
            var yes: Int32 = 1
            setsockopt(
                end, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        }
        let there = databases.there
        Thread {
            var number = 0
            while Self.receive(bytes, from: accepted), (try? Self.commit(number, in: there)) != nil {
                number += 1
                guard Self.send(bytes, to: accepted) else { break }
            }
            close(accepted)
        }.start()
    }

    deinit { close(descriptor) }

    /// What the whole way takes. Each number is good once, from 0 up.
    func milliseconds(of number: Int) throws -> Double {
        let begin = ContinuousClock.now
        try Self.commit(number, in: database)
        guard Self.send(bytes, to: descriptor), Self.receive(bytes, from: descriptor) else {
            throw SocketFailure(number: errno)
        }
        return (ContinuousClock.now - begin) / .milliseconds(1)
    }

    private static func commit(_ number: Int, in database: DatabaseQueue) throws {
        try database.write { try SimpleRows.game(number).insert($0) }
    }

    private static func send(_ count: Int, to descriptor: Int32) -> Bool {
        let bytes = [UInt8](repeating: 7, count: count)
        return write(descriptor, bytes, count) == count
    }

    private static func receive(_ count: Int, from descriptor: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: count)
        var left = count
        while left > 0 {
            let received = read(descriptor, &bytes, left)
            guard received > 0 else { return false }
            left -= received
        }
        return true
    }

    private static func checked(_ result: Int32) throws -> Int32 {
        guard result >= 0 else { throw SocketFailure(number: errno) }
        return result
    }

    #if canImport(Darwin)
        private static let stream = SOCK_STREAM
    #else
        private static let stream = Int32(SOCK_STREAM.rawValue)
    #endif
}

/// A call of the socket interface failed.
struct SocketFailure: Error, CustomStringConvertible {
    let number: Int32

    var description: String { String(cString: strerror(number)) }
}
