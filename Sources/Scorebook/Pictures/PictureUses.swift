import PeerSync

/// A file with a picture, and the records that have it.
public struct PictureUse: Sendable, Equatable, Encodable {
    /// The picture as the first of the records describes it.
    public let image: Asset
    /// The records in order of name, zone by zone.
    public internal(set) var records: [RecordName]
}

/// The files to which records refer, each once.
struct PictureUses: Sendable {
    private var uses: [AssetHash: PictureUse] = [:]

    /// The files with their records, in the order of their hashes.
    var list: [PictureUse] { uses.values.sorted { $0.image.hash < $1.image.hash } }

    /// Adds the files of a record. The caller passes records in order of name.
    mutating func note(_ state: RecordState) {
        for field in state.fields {
            guard case .asset(let asset) = field.value else { continue }
            var use = uses[asset.hash] ?? PictureUse(image: asset, records: [])
            if use.records.last != state.name { use.records.append(state.name) }
            uses[asset.hash] = use
        }
    }
}

extension ScorebookStore {
    /// Lists the files to which live records refer. These include held records, and records of types that this version
    /// does not know.
    public func pictureUses() async throws -> [PictureUse] {
        try await foldForReading()
        return try await read { [records, scope] db in
            var uses = PictureUses()
            for zone in try records.zones.all(db, in: scope) {
                try records.listing.forEachLiveState(db, zone: .one(zone)) { uses.note($0) }
            }
            return uses.list
        }
    }
}
