import Logging
import NIOCore
import PeerSyncModel
import PeerSyncProtocol

/// Announces this machine on its networks, until cancelled.
///
/// The announcement is renewed, under another random name, whenever something about it changes: the pairing code, the
/// addresses of this machine, and after some time the salt. Machines that look for services learn of new names at once, but
/// not of new addresses behind an old one. The old announcement ends when the new one can be found.
struct Announcer {
    /// How long an announcement stays, so that strangers cannot follow a machine by its salt.
    static let lifetime: Duration = .seconds(3600)
    /// The time between looks at the addresses of this machine.
    static let interval: Duration = .seconds(3)
    /// How long an old announcement stays while a new one cannot be made.
    static let overlap: Duration = .seconds(5)

    private struct Content: Equatable {
        let showsCode: Bool
        let addresses: Set<String>
        /// Grows with time.
        let period: Int
    }

    private let engine: SyncEngine
    private let discovery: any Discovery
    private let port: Int

    /// - Returns: nil if the app does not want this machine to be found.
    init?(_ engine: SyncEngine, port: Int) {
        guard let discovery = engine.discovery.discovery, engine.discovery.announces else { return nil }
        self.engine = engine
        self.discovery = discovery
        self.port = port
    }

    func run() async {
        let change = Signal()
        let settings = engine.settings.observers.add { change.raise() }
        defer { withExtendedLifetime(settings) {} }
        let begin = ContinuousClock.now
        change.raise()
        await withDiscardingTaskGroup { group in
            group.addTask {
                while (try? await Task.sleep(for: Self.interval)) != nil { change.raise() }
            }
            var current: (content: Content, end: Signal)?
            for await _ in change {
                let content = Content(
                    showsCode: (try? await engine.pairing.isShowing) ?? false, addresses: Self.ownAddresses(),
                    period: Int((ContinuousClock.now - begin) / Self.lifetime))
                guard content != current?.content else { continue }
                if let old = current?.content, old.addresses != content.addresses {
                    engine.connections.probeAll()
                }
                let (former, end) = (current?.end, Signal())
                group.addTask { await announce(content, until: end, replacing: former) }
                current = (content, end)
            }
        }
    }

    /// Announces until `end`, and ends the former announcement as soon as this one can be found.
    private func announce(_ content: Content, until end: Signal, replacing former: Signal?) async {
        await withTaskGroup { group in
            group.addTask {
                await DiscoveryRetry.run {
                    let service = AnnouncedService(
                        type: engine.discovery.serviceType(of: engine.app),
                        name: Announcement.randomSalt().hexadecimal, port: port,
                        text: Announcement(of: engine.identity.publicKey, showsCode: content.showsCode).text)
                    try await discovery.announce(service) { [engine] in
                        engine.discoveryTrouble.succeeded(.announcing)
                        former?.raise()
                    }
                } onFailure: { error in
                    engine.logger.debug("announcing this machine has failed: \(error)")
                    engine.discoveryTrouble.failed(.announcing, because: .discoveryFails)
                }
            }
            group.addTask {
                if (try? await Task.sleep(for: Self.overlap)) != nil { former?.raise() }
                // Only the other task ends this group before its time.
                while (try? await Task.sleep(for: .seconds(3600))) != nil {}
            }
            _ = await end.wait()
            // Nobody else holds its end.
            former?.raise()
            group.cancelAll()
        }
    }

    /// The addresses at which others may reach this machine.
    private static func ownAddresses() -> Set<String> {
        let devices = (try? System.enumerateDevices()) ?? []
        return Set(
            devices.compactMap { device in
                // Each new announcement would be known for some minutes only.
                guard let address = device.address?.ipAddress,
                    !NetworkAddress.comesAndGoes(address, on: device.name)
                else { return nil }
                return address
            })
    }
}
