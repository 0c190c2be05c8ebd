import CDNSServiceDiscovery
import Dispatch
import Foundation

/// The open requests to the system's service, with a socket each, and their answers as a stream.
///
/// All calls of dns_sd.h, and the callbacks, happen on the queue of this actor. ``endAll()`` has to come last: until then
/// the sockets keep the actor.
actor DNSServiceRunner {
    /// The most answers that wait. The stream ends when there are more: the reader is stuck then.
    private static let bufferSize = 4096

    private struct Request {
        let reference: DNSServiceRef
        let source: any DispatchSourceRead
        let context: Unmanaged<DNSServiceContext>
    }

    nonisolated let replies: AsyncStream<(id: Int, reply: DNSServiceReply)>
    private let continuation: AsyncStream<(id: Int, reply: DNSServiceReply)>.Continuation
    private let executor = DNSServiceExecutor()
    private var open: [Int: Request] = [:]
    /// Requests that have ended, until their sockets are no longer watched.
    private var closing: [Int: Request] = [:]

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init() {
        Self.prepare
        (replies, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.bufferSize))
    }

    /// Once, before the first call.
    private static let prepare: Void = peersync_prepare_dns_sd()

    /// Sends a request. If that is not possible, the answer is a failure.
    ///
    /// - Parameters:
    ///   - id: a new number, under which the answers come.
    ///   - time: the time until the answer `timedOut`, which also ends the request; nil for no end.
    func begin(_ id: Int, _ request: DNSServiceRequest, within time: Duration? = nil) {
        let context = Unmanaged.passRetained(DNSServiceContext(runner: self, id: id))
        var reference: DNSServiceRef?
        let code = DNSServiceCalls.send(request, &reference, context.toOpaque())
        guard code == kDNSServiceErr_NoError, let reference else {
            context.release()
            return send(id, .failed(code))
        }
        let socket = DNSServiceRefSockFD(reference)
        guard socket >= 0 else {
            DNSServiceRefDeallocate(reference)
            context.release()
            return send(id, .failed(Int32(kDNSServiceErr_Unknown)))
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: socket, queue: executor.queue)
        source.setEventHandler { self.assumeIsolated { $0.read(id) } }
        source.setCancelHandler { self.assumeIsolated { $0.close(id) } }
        open[id] = Request(reference: reference, source: source, context: context)
        source.resume()
        guard let time else { return }
        executor.queue.asyncAfter(deadline: .now() + time / .seconds(1)) {
            self.assumeIsolated { runner in
                guard runner.open[id] != nil else { return }
                runner.end(id)
                runner.send(id, .timedOut)
            }
        }
    }

    /// Whether the system's service works on a request.
    var hasOpenRequests: Bool { !open.isEmpty }

    /// Ends a request: no answer to it comes any more.
    func end(_ id: Int) {
        guard let request = open.removeValue(forKey: id) else { return }
        closing[id] = request
        // A socket may only close when nobody watches it.
        request.source.cancel()
    }

    /// Ends all requests, and the stream.
    func endAll() {
        for id in Array(open.keys) { end(id) }
        continuation.finish()
    }

    fileprivate func answered(_ id: Int, _ reply: DNSServiceReply) {
        if open[id] != nil { send(id, reply) }
    }

    private func send(_ id: Int, _ reply: DNSServiceReply) {
        if case .dropped = continuation.yield((id, reply)) { continuation.finish() }
    }

    private func read(_ id: Int) {
        guard let request = open[id] else { return }
        let code = DNSServiceProcessResult(request.reference)
        guard code != kDNSServiceErr_NoError, open[id] != nil else { return }
        end(id)
        send(id, .failed(code))
    }

    private func close(_ id: Int) {
        guard let request = closing.removeValue(forKey: id) else { return }
        DNSServiceRefDeallocate(request.reference)
        request.context.release()
    }
}

/// Leads from a callback to the request that it answers.
final class DNSServiceContext: Sendable {
    private let runner: DNSServiceRunner
    private let id: Int

    fileprivate init(runner: DNSServiceRunner, id: Int) {
        self.runner = runner
        self.id = id
    }

    /// Hands an answer to the runner, on whose queue all callbacks come.
    func answer(_ reply: DNSServiceReply) {
        let id = id
        runner.assumeIsolated { $0.answered(id, reply) }
    }
}
