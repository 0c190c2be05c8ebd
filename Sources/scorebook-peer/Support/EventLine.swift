import PeerSync

/// An event as a JSON object.
struct EventLine: Encodable {
    var event: String
    var host: String?
    var port: Int?
    var code: String?
    var peer: String?
    /// The machine that introduced or removed the peer.
    var by: String?
    var address: String?
    var reason: String?
    var attemptsLeft: Int?
    var count: Int?
    var seconds: Double?
    var records: [String]?
    var sync: SyncFigures?
    var files: Int?
    var bytes: Int64?
    var unavailable: Int?
    var hash: String?
    var zone: String?
    var backup: String?

    /// Makes the line about a code that pairs one machine.
    init(_ code: PairingCode) {
        self.init("pairingCode", code: code.formatted)
    }

    init(_ event: SyncEvent) {
        switch event {
        case .listening(let host, let port):
            self.init("listening", host: host, port: port)
        case .pairingFailed(let address, let left):
            self.init("pairingFailed", address: address, attemptsLeft: left)
        case .paired(let name):
            self.init("paired", peer: name)
        case .introduced(let name, let by):
            self.init("introduced", peer: name, by: by)
        case .removed(let name, let by):
            self.init("removed", peer: name, by: by)
        case .notIntroduced(let name):
            self.init("notIntroduced", peer: name)
        case .refused(let address, let error):
            self.init("refused", address: address, reason: error.explanation)
        case .refusedMore(let count, let address, let error):
            self.init("refusedMore", address: address, reason: error.explanation)
            self.count = count
        case .connected(let name, let address):
            self.init("connected", peer: name, address: address)
        case .progress(let name, let statistics):
            self.init("progress", peer: name, sync: SyncFigures(statistics, nil))
        case .changed(let name, let zone, let changes):
            self.init("changed", peer: name, records: changes.records.map(\.name.description))
            self.zone = zone
            count = changes.count
        case .withheld(let name, let zone, let count):
            self.init("withheld", peer: name)
            self.zone = zone
            self.count = count
        case .inSync(let name, let zone, let digest, let statistics):
            self.init("inSync", peer: name, sync: SyncFigures(statistics, digest))
            self.zone = zone
        case .mended(let check):
            self.init("mended", records: check.findings.map(\.name))
        case .assetProgress(let name, _, _):
            self.init("assetProgress", peer: name)
        case .assetsReceived(let name, let count, let unavailable):
            self.init("assetsReceived", peer: name)
            files = count.files
            bytes = count.bytes
            self.unavailable = unavailable
        case .assetsPaused(let name, let error):
            self.init("assetsPaused", peer: name, reason: error.explanation)
        case .assetsUnsettled(let name):
            self.init("assetsUnsettled", peer: name)
        case .assetDamaged(let hash):
            self.init("assetDamaged")
            self.hash = hash.description
        case .peerRefusedRecords(let name, let names, let reason):
            self.init(
                "peerRefusedRecords", peer: name, reason: reason.description,
                records: names.map(\.description))
        case .refusedPeersRecords(let name, let names, let reason):
            self.init(
                "refusedPeersRecords", peer: name, reason: reason.description,
                records: names.map(\.description))
        case .zoneTakenUp(let name, let zone):
            self.init("zoneTakenUp", peer: name)
            self.zone = zone
        case .zoneOffered(let name, let zone, let isDeleted):
            self.init("zoneOffered", peer: name, reason: isDeleted ? "deleted" : "notGranted")
            self.zone = zone
        case .storeTrouble(let error):
            self.init("storeTrouble", reason: error.explanation)
        case .storeTroubleEnded:
            self.init("storeTroubleEnded")
        case .syncEnded(let error):
            self.init("syncEnded", reason: error.explanation)
        case .replaced(let name, let backup):
            self.init("replaced", peer: name)
            self.backup = backup.path
        case .unionPassedOver(let name, _, let areOne):
            self.init("unionPassedOver", peer: name, reason: areOne ? "one" : "notShared")
        case .discoveryTrouble(let error):
            self.init("discoveryTrouble", reason: error.explanation)
        case .discoveryTroubleEnded:
            self.init("discoveryTroubleEnded")
        case .disconnected(let name, let error):
            self.init("disconnected", peer: name, reason: error?.explanation(with: name))
        case .retrying(let address, let seconds, let error):
            self.init("retrying", address: address, reason: error.explanation, seconds: seconds)
        }
    }

    private init(
        _ event: String, host: String? = nil, port: Int? = nil, code: String? = nil, peer: String? = nil,
        by: String? = nil, address: String? = nil, reason: String? = nil, attemptsLeft: Int? = nil,
        seconds: Double? = nil, records: [String]? = nil, sync: SyncFigures? = nil
    ) {
        self.event = event
        self.by = by
        self.host = host
        self.port = port
        self.code = code
        self.peer = peer
        self.address = address
        self.reason = reason
        self.attemptsLeft = attemptsLeft
        self.seconds = seconds
        self.records = records
        self.sync = sync
    }
}
