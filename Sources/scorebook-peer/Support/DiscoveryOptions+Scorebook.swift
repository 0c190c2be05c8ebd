import PeerSync

extension DiscoveryOptions {
    /// The way in which scorebooks find each other: as `_scorebook-peer._tcp`.
    static func scorebook(announces: Bool) -> DiscoveryOptions {
        DiscoveryOptions(serviceName: "scorebook-peer", announces: announces)
    }
}
