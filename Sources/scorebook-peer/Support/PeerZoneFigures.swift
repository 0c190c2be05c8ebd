import PeerSync

/// How it stands with a peer in a zone, for programs.
struct PeerZoneFigures: Encodable {
    let zone: String
    let rights: String
    let behind: Int
    let lastSync: String?

    init(_ status: PeerZoneStatus) {
        zone = status.zone
        rights = status.rights.name
        behind = status.pending
        lastSync = status.lastSync
    }

    enum CodingKeys: String, CodingKey { case zone, rights, behind, lastSync }

    /// Writes null for missing values, so that every object has the same keys.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(zone, forKey: .zone)
        try container.encode(rights, forKey: .rights)
        try container.encode(behind, forKey: .behind)
        try container.encode(lastSync, forKey: .lastSync)
    }
}
