import PeerSync
import Scorebook

/// The words of the page for how it stands with other machines.
struct MachineWords {
    /// Sync's state of the whole scorebook, from the engine alone.
    let status: StoreStatus
    let reader: Reader

    /// How it stands with a machine: a sentence, and whether it is good, waits, or is bad.
    func state(_ peer: Peer) -> (kind: String, text: String) {
        let waiting = pending(peer)
        guard status.isSyncOn else { return ("waits", "Sync is switched off here." + since(peer)) }
        if peer.isConnected {
            guard waiting == 0 else { return ("good", "Connected. \(changes(waiting)) on the way.") }
            guard peer.lastSync != nil else { return ("waits", "Connected. The first sync goes on.") }
            return (
                "good",
                "Connected, and in sync" + (peer.lastSync.map { " since \(reader.moment($0))" } ?? "") + "."
            )
        }
        if let trouble = trouble(peer) { return ("bad", trouble + since(peer)) }
        guard peer.lastSync != nil else {
            return (
                "waits",
                peer.introducedBy == nil
                    ? "Paired, and not in sync yet: it is not here now."
                    : "Another machine has introduced it. This machine has not met it yet."
            )
        }
        return ("waits", "Not here now." + since(peer))
    }

    /// What waits for a machine, and why; nil if nothing does.
    func waiting(_ peer: Peer) -> String? {
        let waiting = pending(peer)
        guard waiting > 0, !peer.isConnected, peer.awaitsChanges else { return nil }
        return changes(waiting) + (waiting == 1 ? " waits" : " wait") + " here until the two sync."
    }

    /// What one of the two may not do.
    func limits(_ peer: Peer) -> [String] {
        zones(peer).flatMap { zone -> [String] in
            var lines: [String] = []
            let place = status.zones.count > 1 ? " in the zone “\(zone.zone)”" : ""
            switch zone.obstacle {
            case .readOnly?:
                lines.append("It takes no changes of this machine\(place): what is written here stays here.")
            case .notShared?:
                lines.append("It shares nothing\(place) with this machine any more.")
            case .notGranted?:
                lines.append(
                    "It lets this machine have the zone “\(zone.zone)”, which is here too. Say below what it may do there, and the two share it."
                )
            case .notTakenUp? where zone.pending > 0:
                lines.append(
                    "It gets the zone “\(zone.zone)” when the two meet on the network: a mailbox brings no zone."
                )
            default: break
            }
            if zone.rights == .read { lines.append("It may only read\(place).") }
            return lines
        }
    }

    /// How it stands with a machine in each zone.
    func zones(_ peer: Peer) -> [PeerZoneStatus] { status.peerZones.filter { $0.peer == peer.name } }

    /// A sentence about all machines.
    var summary: String {
        let count = status.peers.count
        guard count > 0 else { return "This machine is alone: everything that you write stays here." }
        guard status.isSyncOn else {
            return
                "Sync is switched off here. What you write stays here, and goes to the others when it is on again."
        }
        let connected = status.peers.filter(\.isConnected).count
        let others =
            count == 1
            ? "The other machine" : "\(reader.number(connected)) of \(reader.number(count)) other machines"
        if count == 1 { return connected == 1 ? "\(others) is here." : "\(others) is not here now." }
        return "\(others) \(connected == 1 ? "is" : "are") here."
    }

    private func pending(_ peer: Peer) -> Int { status.pendingByPeer[peer.name] ?? 0 }

    private func changes(_ count: Int) -> String {
        "\(reader.number(count)) \(count == 1 ? "change" : "changes")"
    }

    private func since(_ peer: Peer) -> String {
        peer.lastSync.map { " Last in sync on \(reader.moment($0))." } ?? ""
    }

    /// Why the last connection ended badly; nil if it did not, or if the machine was just not there.
    private func trouble(_ peer: Peer) -> String? {
        guard let code = peer.lastErrorCode, ![.unreachable, .interrupted, .timeout].contains(code) else {
            return nil
        }
        return Self.sentences[code] ?? peer.lastError.map { PageError.sentence($0) }
    }

    // MARK: Errors

    /// What went wrong between two machines, and what helps on a page.
    static func sentence(_ error: PeerSyncError) -> String {
        sentences[error.code] ?? PageError.sentence(error.message)
    }

    private static let sentences: [PeerSyncError.Code: String] = [
        .noMachineFound:
            "No machine on this network shows a code. Show one there, or also type that machine’s address here.",
        .severalMachinesFound:
            "Several machines on this network show a code at this moment. Also type the address of the one you mean.",
        .noDiscovery:
            "Machines on this network cannot be found at this moment. Also type the address of the machine that shows the code.",
        .unreachable: "Nothing answers there. Look whether that machine is on, and at the address.",
        .pairingFailed: "That is not the code that the other machine shows.",
        .pairingUnavailable: "The other machine shows no code any more. Show a new one there.",
        .pairingBusy: "Another machine tries the code at this moment. Try it again soon.",
        .tooManyAttempts: "Too many wrong codes came from here. Wait some minutes before the next one.",
        .sameIdentity: "This machine cannot pair with itself. Type the code on another one.",
        .notPaired: "It does not know this machine any more. Forget it here, and pair the two again.",
        .removed: "One of the two was removed from the household. Pairing them again brings it back.",
        .switchedOff: "Sync is switched off here. Switch it on first.",
        .peerSwitchedOff: "Sync is switched off there.",
        .clockSkew: "The clock of one of the two is wrong. Set it right.",
        .noCommonZone: "The two share nothing. Say below what it may do here.",
        .differentZones:
            "Each of the two machines has a scorebook of its own. Choose it under Machines, and say what becomes of them.",
        .notAllowed:
            "The other machine has not allowed to make one scorebook of the two. Somebody there can allow it.",
        .incompatible: "The two have versions that do not fit. Install the same version on both.",
        .noPeer: "What answers there is no scorebook. Look at the address.",
        .otherApp: "What answers there is no scorebook. Look at the address.",
        .otherMachine: "Another machine answers there than the one that shows this code.",
    ]

    /// What a held record waits for.
    static func waitsFor(_ reason: HeldReason, phrase: (RecordName) async throws -> String) async rethrows
        -> String
    {
        switch reason {
        case .unknownType: "a newer version of the program"
        case .record(let name): try await phrase(name)
        case .values: "another one that has the same values to go"
        case .key: "a newer version of the program"
        case .row(let column): "what “\(column)” refers to"
        case .fields: "values that fit"
        }
    }

    /// Why a machine has refused a record, and what helps.
    static func refusal(_ reason: RefusedRecord.Reason) -> String {
        switch reason {
        case .readOnly: "because this machine may only read there"
        case .otherZone: "because it has them in another zone"
        case .tooLarge: "because they are too large; make them smaller"
        default: "(\(reason))"
        }
    }

    /// What becomes of a row that sync does not carry as it is, why, and what helps.
    static func fate(_ reason: UnsyncedRecord.Reason) -> String {
        switch reason {
        case .name: "stays here: its key cannot be sent; give it another one"
        case .size: "stays here: it is larger than 8 MiB; make it smaller"
        case .file:
            "keeps the bytes of its file, because its table lets no text name one; the other machines have it"
        case .text:
            "has a text that is no UTF-8: the other machines have “\u{FFFD}” in place of what is not; write it anew"
        default: "stays here: \(reason)"
        }
    }
}

extension WritingMachine {
    /// The machine, for people.
    var words: String {
        switch self {
        case .here: "this machine"
        case .named(let name): name
        case .unknown: "a machine that is not known here"
        }
    }
}
