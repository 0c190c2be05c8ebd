import Logging
import NIOCore

/// What others may know of a listener: other machines find it, and other programs of this machine read its port.
struct Presence {
    let engine: SyncEngine

    /// Runs until cancelled.
    ///
    /// - Parameter addresses: the address on which the listener takes connections. It tries the same port again if it loses
    ///   it, so the first one counts.
    func run(_ addresses: AsyncStream<SocketAddress>) async {
        for await address in addresses {
            guard let port = address.port else { continue }
            await noteListening(on: port, true)
            // Nobody else on a network can connect to an address of this machine alone.
            let isOwn = address.ipAddress.map(NetworkAddress.isLoopback) ?? true
            let isOpen = !isOwn || !(engine.discovery.discovery is SystemDiscovery)
            if isOpen, let announcer = Announcer(engine, port: port) {
                await announcer.run()
            } else {
                while (try? await Task.sleep(for: .seconds(3600))) != nil {}
            }
            return await noteListening(on: port, false)
        }
    }

    /// An unstructured task writes, so that the end of a cancelled listener is noted, too.
    private func noteListening(on port: Int, _ isListening: Bool) async {
        let note = Task { [store = engine.store] in
            try await store.pairing.noteListening(on: port, isListening)
        }
        do {
            try await note.value
        } catch {
            engine.logger.warning("other programs cannot be told of the port: \(error)")
        }
    }
}
