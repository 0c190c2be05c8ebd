/// Discovery by DNS-SD: Bonjour on macOS, Avahi on Linux. It needs a running system service, and works on the networks that
/// this machine is in.
public struct SystemDiscovery: Discovery {
    /// Makes a value that opens nothing yet.
    public init() {}

    public func announce(_ service: AnnouncedService, onReady: @escaping @Sendable () -> Void) async throws {
        try await withRunner { runner in
            await runner.begin(0, .register(service))
            for await (_, reply) in runner.replies {
                switch reply {
                case .registered: onReady()
                case .failed(let code): throw DNSServiceFailure(code: code)
                default: break
                }
            }
        }
    }

    public func browse(for type: String, onChange: @escaping @Sendable ([FoundService]) -> Void) async throws
    {
        try await withRunner { runner in
            var search = ServiceSearch(for: type)
            try await perform(search.begin(), runner)
            // A service that does not run has answered at once.
            if await runner.hasOpenRequests { onChange([]) }
            for await (id, reply) in runner.replies {
                let actions = search.received(id, reply)
                try await perform(actions, runner)
                if actions.contains(.changed) { onChange(search.found) }
            }
        }
    }

    private func perform(_ actions: [ServiceSearch.Action], _ runner: DNSServiceRunner) async throws {
        for action in actions {
            switch action {
            case .begin(let id, let request, let time): await runner.begin(id, request, within: time)
            case .end(let id): await runner.end(id)
            case .fail(let code): throw DNSServiceFailure(code: code)
            case .changed: break
            }
        }
    }

    /// Runs `body` until it ends, and then ends all requests.
    ///
    /// A service that hangs holds up its calls for as long as it likes. So when the task is cancelled, this leaves them
    /// running, and ends the requests when they return.
    ///
    /// - Throws: what `body` throws, and ``DNSServiceFailure`` if it ends although nobody has cancelled the task.
    private func withRunner(_ body: @escaping @Sendable (DNSServiceRunner) async throws -> Void) async throws
    {
        let outcome = FirstOutcome<Void>()
        let work = Task {
            let runner = DNSServiceRunner()
            do {
                try await body(runner)
                outcome.settle(.failure(DNSServiceFailure(code: 0)))
            } catch {
                outcome.settle(.failure(error))
            }
            await runner.endAll()
        }
        defer { work.cancel() }
        try await outcome.value
    }
}
