import PeerSync

/// How it stands with a peer in a zone, for programs.
struct PeerZoneFigures: Encodable {
    let zone: String
    let rights: String
    /// What this machine may do there at the peer; nil if that one never said.
    @OrNull var ownRights: String?
    /// What keeps this machine's changes from the peer; nil if nothing does.
    @OrNull var obstacle: String?
    let behind: Int
    @OrNull var lastSync: String?

    init(_ status: PeerZoneStatus) {
        zone = status.zone
        rights = status.rights.name
        ownRights = status.ownRights?.name
        obstacle = status.obstacle?.description
        behind = status.pending
        lastSync = status.lastSync
    }
}

extension PeerZoneStatus {
    /// What keeps the zone from the machine, and what helps; nil if nothing does, or nothing waits for that.
    ///
    /// - Parameters:
    ///   - hasZones: whether this machine has several zones.
    ///   - hasMailbox: whether this machine has a mailbox, which brings no zone.
    func obstacleText(hasZones: Bool, hasMailbox: Bool = true) -> String? {
        let changes =
            pending.counted("change") + (hasZones ? " of the zone “\(zone)”" : "")
            + (pending == 1 ? " waits" : " wait")
        switch obstacle {
        case .notTakenUp? where pending > 0 && hasMailbox:
            return
                "\(changes) for \(peer), which has not taken the zone up: let the two meet on the network once; a mailbox brings no zone"
        case .notTakenUp? where pending > 0:
            return
                "\(changes) for \(peer), which has not taken the zone up: it does so with a sync, or its status says why not"
        case .notGranted?: return Hint.offered(zone, by: peer)
        case .readOnly? where pending > 0:
            return "\(changes) here: \(peer) lets this machine read only"
        case .notShared?:
            let place = hasZones ? "the zone “\(zone)”" : "the scorebook"
            return
                "\(peer) shares \(place) with this machine no more: nothing of it comes from there or goes there"
        default: return nil
        }
    }
}
