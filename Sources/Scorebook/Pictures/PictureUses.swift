import SyncModel

/// A file with a picture, and the records that have it.
public struct PictureUse: Sendable, Equatable, Encodable {
    /// As the first of the records describes it.
    public let image: Asset
    /// In order, zone by zone.
    public internal(set) var records: [RecordName]
}

/// The files that records refer to, each once.
struct PictureUses: Sendable {
    private var uses: [AssetHash: PictureUse] = [:]

    /// In the order of their hashes.
    var list: [PictureUse] { uses.values.sorted { $0.image.hash < $1.image.hash } }

    /// Takes in what a record has; records come in order of their names.
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
    /// The files that live records refer to; also those of records that are held, or of types that this version does
    /// not know.
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
