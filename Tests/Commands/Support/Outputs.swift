/// What the commands print with `--json`, as far as the tests look at it.
struct Status: Decodable, Equatable {
    struct Peer: Decodable, Equatable {
        let name: String
        let key: String
        let connected: Bool
        let lastSeen: String?
        let lastSync: String?
        let lastError: String?
        let lastErrorCode: String?
        let behind: Int
        let zones: [ZoneGrant]
    }

    struct ZoneGrant: Decodable, Equatable {
        let zone: String
        let rights: String
        let behind: Int
        let lastSync: String?
    }

    struct Refused: Decodable, Equatable {
        let name: String
        let peer: String
        let zone: String
    }

    struct Assets: Decodable, Equatable {
        let policy: String
        let files: Int
        let bytes: Int
        let missing: Int
        let missingBytes: Int
        let left: Int
        let leftBytes: Int
    }

    let digest: String
    let live: Int
    let records: [String: Int]
    let tombstones: Int
    let hidden: Int
    let held: Int
    let pending: Int
    let peers: [Peer]
    let assets: Assets
    let zones: [ZoneLine]
    let refused: [Refused]
    let sync: Bool
}

struct ZoneLine: Decodable, Equatable {
    let name: String
    let id: String
    let owner: String
    let records: Int
    let digest: String
    let shared: Bool
}

struct SyncFigures: Decodable, Equatable {
    let sent: Int
    let received: Int
    let bytes: Int
    let assetsReceived: Int
    let assetBytesReceived: Int
    let assetBytesSent: Int
    let digest: String
    let records: Int
    let backup: String?
    let union: String?
}

struct Event: Decodable {
    let event: String
    let port: Int?
    let code: String?
    let peer: String?
    let reason: String?
    let backup: String?
    let attemptsLeft: Int?
    let count: Int?
    let records: [String]?
    let zone: String?
    let sync: SyncFigures?
}

/// Any record in a list or on its own.
struct RecordLine: Decodable {
    let recordName: String
    let waitsFor: String?
}

/// A deleted record that can be restored.
struct DeletedLine: Decodable, Equatable {
    let recordName: String
    let title: String?
    let players: [String]
    let deletedAt: String
    let here: Bool
    let machine: String?
    let replica: String
    let companions: Int
    let restorableUntil: String
    let zone: String
}

/// A record that a command has deleted or restored.
struct StepLine: Decodable, Equatable {
    let recordName: String
    let action: String
}

struct ImportFigures: Decodable {
    struct Counts: Decodable {
        let new: Int
        let changed: Int
        let unchanged: Int
        let deleted: Int
    }

    let types: [String: Counts]
    let restored: Int
}
