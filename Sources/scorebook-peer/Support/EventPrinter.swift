import Foundation
import PeerSync

/// A printer of the engine's events: as lines for people, or as one JSON object per line for programs.
struct EventPrinter: Sendable {
    let json: Bool

    func print(_ event: SyncEvent) {
        switch event {
        case .progress(let name, let statistics):
            guard !json else { return }
            return ProgressLine.shared.show(
                "\(name): \(Self.count(statistics.recordsSent, statistics.recordsLeftToSend)) records sent, "
                    + "\(Self.count(statistics.recordsReceived, statistics.recordsLeftToReceive)) received, "
                    + "\(Int(statistics.seconds)) s")
        case .assetProgress(let name, let receiving, let sending):
            guard !json else { return }
            return ProgressLine.shared.show(ProgressBar.text(name, receiving: receiving, sending: sending))
        default: break
        }
        if json {
            try? Terminal.write(json: EventLine(event), compact: true)
        } else if let line = Self.line(event) {
            Terminal.write(line)
        }
    }

    static func line(_ event: SyncEvent) -> String? {
        switch event {
        case .listening(let host, let port):
            "listening on \(PeerAddress(host: host, port: port))" + reachable(host, port)
        case .pairingCode(let code):
            "pairing code \(code.formatted) (valid for 5 minutes, 3 attempts, one machine)"
        case .pairingFailed(let address, let left):
            "pairing with \(address) failed: wrong code or cut short; "
                + (left == 0 ? "the code is used up" : "\(left) attempt\(left == 1 ? "" : "s") left")
        case .paired(let name):
            "paired with \(name)"
        case .introduced(let name, let by):
            "\(name) is in the household from now on" + (by.map { ": \($0) introduced it" } ?? "")
        case .removed(let name, let by):
            "\(name) is not in the household any more" + (by.map { ": \($0) removed it" } ?? "")
        case .notIntroduced(let name):
            "\(name) is paired with this machine only; `scorebook-peer peers introduce` on both introduces it to the "
                + "household"
        case .refused(let address, let error):
            "refused \(address): \(error.explanation)"
        case .refusedMore(let count, let address, let error):
            "refused \(count.counted("more connection")), the last of \(address): \(error.explanation)"
        case .connected(let name, let address):
            "connected with \(name) (\(address))"
        case .progress, .assetProgress:
            nil
        case .assetsReceived(let name, let count, let unavailable):
            "received \(count.text) from \(name)"
                + (unavailable > 0 ? "; \(unavailable.counted("picture")) it does not have" : "")
        case .assetsPaused(let name, let error):
            "pictures from \(name) wait: \(error.explanation)"
        case .assetsUnsettled(let name):
            "\(name) does not go on with its pictures; some may be missing there"
        case .assetDamaged(let hash):
            "found a damaged picture here, \(hash); it is fetched again"
        case .inSync(let name, let zone, let digest, let statistics):
            summary(name, zone: zone, digest, statistics)
        case .mended(let check):
            "found and mended here: " + Self.summary(check)
        case .peerRefusedRecords(let name, let records, let reason):
            "\(name) does not take \(Self.list(records.map(\.description))): "
                + Self.whyRefused(there: reason)
        case .refusedPeersRecords(let name, let records, let reason):
            "refused \(Self.list(records.map(\.description))) of \(name): " + Self.whyRefused(here: reason)
        case .zoneTakenUp(let name, let zone):
            "the zone “\(zone)” of \(name) is here now, beside the others"
        case .storeTrouble(let error):
            "what other programs write here cannot be taken in: \(error.explanation)"
        case .storeTroubleEnded:
            "what other programs write here is taken in again"
        case .replaced(let name, let backup):
            "this scorebook is replaced by that of \(name); what it was is in \(backup.path)"
        case .discoveryTrouble(let error):
            error.explanation
        case .discoveryTroubleEnded:
            "machines on this network are found again"
        case .disconnected(let name, let error):
            error.map { "lost \(name): \($0.explanation)" } ?? "\(name) disconnected"
        case .retrying(let address, let seconds, let error):
            "\(error.explanation); trying \(address) again, first in \(String(format: "%.1f", seconds)) s"
        }
    }

    /// Tells how many have moved, and of how many if some are known to be left.
    private static func count(_ moved: Int, _ left: Int?) -> String {
        guard let left, left > 0 else { return moved.grouped }
        return "\(moved.grouped) of \((moved + left).grouped)"
    }

    /// Tells why a peer did not take records of this machine.
    private static func whyRefused(there reason: RefusedRecord.Reason) -> String {
        switch reason {
        case .readOnly: "it lets this machine read only; `scorebook-peer zone restore` puts back what it has"
        case .otherZone: "it has records of these names in another zone"
        case .tooLarge: "they are too large for it; make them smaller"
        default: "\(reason)"
        }
    }

    /// Tells why this machine did not take records of a peer.
    private static func whyRefused(here reason: RefusedRecord.Reason) -> String {
        switch reason {
        case .readOnly: "it may only read here"
        case .otherZone: "they are in another zone here"
        case .tooLarge: "they are too large; make them smaller there"
        default: "\(reason)"
        }
    }

    /// The maximum number of records that one line names.
    private static let namedRecords = 5

    private static func summary(_ check: StoreCheck) -> String {
        guard !check.findings.isEmpty else { return "the digest" }
        return list(check.findings.map(\.name))
    }

    private static func list(_ names: [String]) -> String {
        let named = names.prefix(namedRecords).joined(separator: ", ")
        let rest = names.count - namedRecords
        return rest > 0 ? "\(named) and \(rest.counted("more record"))" : named
    }

    /// Returns the line that says that two machines hold the same, and what the sync cost.
    static func summary(
        _ name: String, zone: String? = nil, _ digest: ZoneDigest, _ statistics: SessionStatistics
    ) -> String {
        "in sync with \(name)\(zone.map { " in “\($0)”" } ?? ""): \(Int(digest.count).counted("record")), digest \(digest.hex); "
            + "sent \(statistics.recordsSent.grouped), received \(statistics.recordsReceived.grouped), "
            + "\((statistics.bytesSent + statistics.bytesReceived).grouped) bytes, "
            + String(format: "%.2f s", statistics.seconds) + pictures(statistics)
    }

    /// Tells which pictures a sync moved; empty if none.
    private static func pictures(_ statistics: SessionStatistics) -> String {
        var parts: [String] = []
        if statistics.assetsReceived > 0 {
            parts.append(
                "\(statistics.assetsReceived.counted("picture")) received "
                    + "(\(statistics.assetBytesReceived.byteCount))")
        }
        if statistics.assetBytesSent > 0 {
            parts.append("\(statistics.assetBytesSent.byteCount) of pictures sent")
        }
        return parts.map { ", \($0)" }.joined()
    }

    /// Returns the addresses at which other machines reach a machine that listens on every address.
    private static func reachable(_ host: String, _ port: Int) -> String {
        guard ["0.0.0.0", "::"].contains(host) else { return "" }
        let addresses = OwnAddresses.reachable(port: port).map(\.description)
        return addresses.isEmpty ? "" : " (from other machines: \(addresses.joined(separator: ", ")))"
    }
}

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

    init(_ event: SyncEvent) {
        switch event {
        case .listening(let host, let port):
            self.init("listening", host: host, port: port)
        case .pairingCode(let code):
            self.init("pairingCode", code: code.formatted)
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
        case .storeTrouble(let error):
            self.init("storeTrouble", reason: error.explanation)
        case .storeTroubleEnded:
            self.init("storeTroubleEnded")
        case .replaced(let name, let backup):
            self.init("replaced", peer: name)
            self.backup = backup.path
        case .discoveryTrouble(let error):
            self.init("discoveryTrouble", reason: error.explanation)
        case .discoveryTroubleEnded:
            self.init("discoveryTroubleEnded")
        case .disconnected(let name, let error):
            self.init("disconnected", peer: name, reason: error?.explanation)
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

/// The figures of a sync, for programs.
struct SyncFigures: Encodable {
    let sent: Int
    let received: Int
    let bytesSent: Int
    let bytesReceived: Int
    let bytes: Int
    let assetsReceived: Int
    let assetBytesReceived: Int64
    let assetBytesSent: Int64
    let seconds: Double
    let digest: String?
    let records: Int?

    init(_ statistics: SessionStatistics, _ digest: ZoneDigest?) {
        sent = statistics.recordsSent
        received = statistics.recordsReceived
        bytesSent = statistics.bytesSent
        bytesReceived = statistics.bytesReceived
        bytes = bytesSent + bytesReceived
        assetsReceived = statistics.assetsReceived
        assetBytesReceived = statistics.assetBytesReceived
        assetBytesSent = statistics.assetBytesSent
        seconds = statistics.seconds
        self.digest = digest?.hex
        records = digest.map { Int($0.count) }
    }
}
