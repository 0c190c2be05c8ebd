import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A server of HTTP on this machine that answers what the test wants, also what no server should.
final class ScriptedServer: Sendable {
    struct Request: Sendable {
        let method: String
        let target: String
        /// Names in lower case.
        let headers: [String: String]
        let body: [UInt8]
    }

    enum Answer: Sendable {
        case status(Int, headers: [String: String] = [:], body: [UInt8] = [])
        /// A head that promises more bytes than come before the connection breaks.
        case cut(promised: Int, body: [UInt8])
        /// Bytes that are no HTTP.
        case bytes(String)
        /// The connection breaks at once.
        case nothing
        /// No answer, and the connection stays.
        case silence
        /// A head that promises bytes, and one of them every 20 milliseconds.
        case drip(promised: Int)
    }

    private let channel: any Channel
    private let asked = Mutex<[Request]>([])

    var port: Int { channel.localAddress?.port ?? 0 }
    var address: String { "http://127.0.0.1:\(port)" }
    /// What was asked so far.
    var requests: [Request] { asked.withLock { $0 } }

    private init(_ channel: any Channel) {
        self.channel = channel
    }

    /// Runs a test with a server that answers each request with `answer`, which also gets the number of requests before.
    static func with<Value>(
        _ answer: @escaping @Sendable (Request, Int) -> Answer,
        run body: (ScriptedServer) async throws -> Value
    ) async throws -> Value {
        let server = Mutex<ScriptedServer?>(nil)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        Handler { request in
                            let number = server.withLock { $0 }?.note(request) ?? 0
                            return answer(request, number)
                        })
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        let scripted = ScriptedServer(channel)
        server.withLock { $0 = scripted }
        let result: Result<Value, any Error>
        do { result = .success(try await body(scripted)) } catch { result = .failure(error) }
        try await channel.close()
        return try result.get()
    }

    private func note(_ request: Request) -> Int {
        asked.withLock {
            $0.append(request)
            return $0.count - 1
        }
    }

    /// Gathers a request, and writes the answer.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private var bytes: [UInt8] = []
        private let answer: (Request) -> Answer

        init(_ answer: @escaping (Request) -> Answer) {
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            bytes += Array(buffer: unwrapInboundIn(data))
            // Somebody begins with TLS: what servers without it answer.
            if bytes.first == 22 { return write(.bytes("HTTP/1.1 400 Bad Request\r\n\r\n"), context) }
            while let request = next() { write(answer(request), context) }
        }

        private func next() -> Request? {
            guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
            let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(
                separatedBy: "\r\n")
            var headers: [String: String] = [:]
            for line in lines.dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
            }
            let length = headers["content-length"].flatMap { Int($0) } ?? 0
            guard bytes.count >= end.upperBound + length else { return nil }
            let body = Array(bytes[end.upperBound..<(end.upperBound + length)])
            bytes.removeFirst(end.upperBound + length)
            let words = lines[0].split(separator: " ")
            return Request(method: String(words[0]), target: String(words[1]), headers: headers, body: body)
        }

        private func write(_ answer: Answer, _ context: ChannelHandlerContext) {
            func send(_ bytes: [UInt8]) {
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            }
            func head(_ status: Int, _ headers: [String: String], _ length: Int) -> [UInt8] {
                let lines = headers.map { "\($0): \($1)\r\n" }.sorted().joined()
                return Array("HTTP/1.1 \(status) Text\r\n\(lines)Content-Length: \(length)\r\n\r\n".utf8)
            }
            switch answer {
            case .status(let status, let headers, let body): send(head(status, headers, body.count) + body)
            case .cut(let promised, let body):
                send(head(200, [:], promised) + body)
                context.close(promise: nil)
            case .bytes(let text):
                send(Array(text.utf8))
                context.close(promise: nil)
            case .nothing: context.close(promise: nil)
            case .silence: break
            case .drip(let promised):
                send(head(200, [:], promised))
                let (channel, pause) = (context.channel, TimeAmount.milliseconds(20))
                channel.eventLoop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { task in
                    guard channel.isActive else { return task.cancel() }
                    channel.writeAndFlush(ByteBuffer(bytes: [7]), promise: nil)
                }
            }
        }
    }
}
