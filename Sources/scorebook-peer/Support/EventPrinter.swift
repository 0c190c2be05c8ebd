import Foundation
import PeerSync
import ScorebookWeb

/// A printer of the engine's events: as lines for people, or as one JSON object per line for programs.
struct EventPrinter: Sendable {
    let json: Bool

    /// - Parameter names: what the line calls the records of the event; see ``records(_:)``.
    func print(_ event: SyncEvent, naming names: [String] = []) {
        switch event {
        case .progress(let name, let statistics):
            guard !json else { return }
            return ProgressLine.shared.show(ProgressBar.text(name, statistics))
        case .assetProgress(let name, let receiving, let sending):
            guard !json else { return }
            return ProgressLine.shared.show(ProgressBar.text(name, receiving: receiving, sending: sending))
        default: break
        }
        if json {
            try? Terminal.write(json: EventLine(event), compact: true)
        } else if let line = Self.line(event, naming: names) {
            Terminal.write(line)
        }
    }

    /// Prints a code that pairs one machine.
    func print(_ code: PairingCode) {
        if json {
            try? Terminal.write(json: EventLine(code), compact: true)
        } else {
            Terminal.write(Self.line(code))
        }
    }

    /// The line about a code that pairs one machine.
    static func line(_ code: PairingCode) -> String {
        "pairing code \(code.formatted) (valid for 5 minutes, 3 attempts, one machine)"
    }

    /// The names of the records of which the line of an event tells.
    static func records(_ event: SyncEvent) -> [String] {
        switch event {
        case .mended(let check): check.findings.map(\.name)
        case .peerRefusedRecords(_, let names, _), .refusedPeersRecords(_, let names, _):
            names.map(\.description)
        default: []
        }
    }

    /// The line about an event; nil for what ``LiveOutput`` says itself.
    static func line(_ event: SyncEvent, naming names: [String] = []) -> String? {
        switch event {
        case .listening(let host, let port):
            "listening on \(PeerAddress(host: host, port: port))" + reachable(host, port)
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
        case .progress, .assetProgress, .changed, .inSync:
            nil
        case .withheld(let name, _, let count):
            Self.withheld(name, count)
        case .assetsReceived(let name, let count, let unavailable):
            "received \(count.text) from \(name)"
                + (unavailable > 0 ? "; \(unavailable.counted("picture")) it does not have" : "")
        case .assetsPaused(let name, let error):
            "pictures from \(name) wait: \(error.explanation)"
        case .assetsUnsettled(let name):
            "\(name) does not go on with its pictures; some may be missing there"
        case .assetDamaged(let hash):
            "found a damaged picture here, \(hash), and put it aside; a machine that has it whole sends it again"
        case .mended:
            "found and mended here: " + (names.isEmpty ? "the check sum" : Self.list(names))
        case .peerRefusedRecords(let name, _, let reason):
            "\(name) does not take \(Self.list(names)): " + Self.whyRefused(there: reason)
        case .refusedPeersRecords(let name, _, let reason):
            "refused \(Self.list(names)) of \(name): " + Self.whyRefused(here: reason)
        case .zoneTakenUp(let name, let zone):
            "the zone “\(zone)” of \(name) is here now, beside the others"
        case .zoneOffered(let name, let zone, true):
            "\(name) lets this machine have the zone “\(zone)”, which was deleted here; \(Hint.accepting(zone)) lets it come back"
        case .zoneOffered(let name, let zone, false): Hint.offered(zone, by: name)
        case .storeTrouble(let error):
            "what other programs write here cannot be taken in: \(error.explanation)"
        case .storeTroubleEnded:
            "what other programs write here is taken in again"
        case .syncEnded(let error):
            "sync has ended: \(error.explanation)"
        case .replaced(let name, let backup):
            "this scorebook is replaced by that of \(name); what it was is in \(backup.path)"
        case .unionPassedOver(let name, let union, true):
            "this scorebook and that of \(name) are one already: nothing is replaced or brought together"
                + (Hint.startingOver(union, with: name).map { "; \($0)" } ?? "")
        case .unionPassedOver(let name, _, false):
            "\(name) and this machine do not share their scorebooks: nothing is replaced or brought together; "
                + Hint.filled(Hint.meetingAnew, ["HOST": name])
        case .discoveryTrouble(let error):
            error.explanation
        case .discoveryTroubleEnded:
            "machines on this network are found again"
        case .disconnected(let name, let error):
            error.map { "lost \(name): \($0.explanation(with: name))" } ?? "\(name) disconnected"
        case .retrying(let address, let seconds, let error):
            "\(error.explanation); trying \(address) again, first in \(String(format: "%.1f", seconds)) s"
        }
    }

    private static func withheld(_ name: String?, _ count: Int) -> String {
        let what =
            name.map {
                "\(count.counted("change")) of \($0) would take away much of the scorebook: not shown"
            }
            ?? "a program here took away much of the scorebook, \(count.counted("change")): not sent"
        return "\(what) until somebody decides; see `scorebook-peer sync alarms`"
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
    static let namedRecords = 5

    private static func list(_ names: [String]) -> String {
        let named = names.prefix(namedRecords).joined(separator: ", ")
        let rest = names.count - namedRecords
        return rest > 0 ? "\(named) and \(rest.counted("more record"))" : named
    }

    /// Returns the line that says that two machines hold the same, and what the sync cost.
    static func totals(
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
