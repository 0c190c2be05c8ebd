import ArgumentParser
import Foundation
import PeerSync
import Scorebook

/// The words for findings, and what people can do. The engine knows codes.
extension Finding {
    /// One sentence: what is so, and what to do.
    var text: String {
        let sentence = storeText ?? networkText ?? peerText
        return (peer.map { "\($0): " } ?? "") + sentence
    }

    private var place: String { subject ?? "?" }
    private var count: Int { Int(number ?? 0) }

    private var storeText: String? {
        switch code {
        case .noStore:
            "there is no scorebook in \(place); `scorebook-peer import`, or the first `game add`, makes one, and --store DIR "
                + "names another directory"
        case .unreadable: "\(place) cannot be read; check who may read it, and as whom you run this"
        case .unwritable: "\(place) cannot be written; check who may write it, and as whom you run this"
        case .readOnlyDisk:
            "the disk of \(place) can only be read, which a disk often does when it fails; look into the system's log, copy "
                + "the directory to another disk, and give that with --store"
        case .diskFull: "the disk of \(place) is full; make room, and sync goes on by itself"
        case .diskAlmostFull: "the disk of \(place) has only \(count >> 20) MiB left; make room soon"
        case .noKey:
            "the key of this machine, \(place), is gone, by which the others know it; restore it from a backup, or run "
                + "`scorebook-peer identity renew` and pair again"
        case .keyUnusable: keyText
        case .damaged:
            "the database \(place) is damaged; move it away together with its -wal and -shm, and copy a backup to its place, "
                + "as from `backups` beside it"
        case .newerStore:
            "a newer version of the program wrote \(place); install that version on this machine"
        case .storeUnusable: "\(place) cannot be opened; `scorebook-peer status` says why"
        case .unsound:
            "sync's data does not agree with the tables in \(count.counted("place")); run "
                + "`scorebook-peer status --check --repair`, then sync"
        case .sound: "the scorebook is sound, with \(count.counted("record"))"
        case .switchedOff: "sync is switched off here; `scorebook-peer sync on` switches it on"
        case .clockUnset:
            "the clock of this machine says \(ISO8601.text(milliseconds: number ?? 0, fraction: .ifNeeded) ?? "?"), which "
                + "cannot be; \(Self.settingTheClock)"
        case .clockWrong:
            "the clock of this machine is \(duration) \(isBehind ? "behind" : "ahead of") the others, which agree; "
                + "\(Self.settingTheClock)"
        case .writesInFuture:
            "the newest write here is dated \(duration) into the future; set the clock of this machine if it is wrong, and if it "
                + "is right, run `scorebook-peer clock repair`"
        case .held:
            "\(count.counted("record")) wait\(count == 1 ? "s" : "") for others; `scorebook-peer record list --held` says "
                + "for what"
        case .refused:
            "it refuses \(count.counted("record")) of the zone “\(place)”; `scorebook-peer status` names them and says what "
                + "helps"
        case .unsynced:
            "\(count.counted("row")) cannot sync and stay\(count == 1 ? "s" : "") here; `scorebook-peer status` names them "
                + "and says why"
        default: nil
        }
    }

    private var keyText: String {
        switch error {
        case .unsafeIdentity?:
            "others can read \(place), the secret key of this machine; "
                + Hint.filled("run: chmod 600 FILE", ["FILE": place])
        case .foreignIdentity?:
            "\(place), the secret key of this machine, belongs to another user; run this as that user"
        case .invalidIdentity?:
            "\(place) holds no key; restore it from a backup, or move it away and pair again"
        default: "\(place), the key of this machine, cannot be read; check who may read it"
        }
    }

    private var networkText: String? {
        switch code {
        case .mailboxInStep: "the mailbox “\(place)” can be used"
        case .mailboxUnused:
            "nothing has synced with the mailbox “\(place)” yet; run `scorebook-peer mailbox sync`, or `listen`"
        case .mailboxFailed: "the mailbox “\(place)” cannot be used: \(reason ?? "?")"
        case .mailboxUnreadable:
            "what it left in the mailbox “\(place)” cannot be read on: \(reason ?? "?")"
        case .noNetwork: "this machine is in no network; plug in a cable, or join the Wi-Fi"
        case .notListening:
            "nothing listens here on port \(count), so others cannot call this machine; run `scorebook-peer listen`, or let "
                + "`scorebook-peer service install` do it"
        case .listening: "this scorebook listens on \(place)"
        case .listeningToItself:
            "this scorebook listens on \(place), which other machines cannot reach; run `listen` without --host"
        case .portTaken:
            "another program, or another scorebook, has port \(count) of this machine; end it, or use `listen --port`"
        case .firewallBlocks:
            "a rule of \(place) keeps other machines from port \(count) of this one; \(opening)"
        case .firewallMayBlock:
            "\(place) may keep other machines from port \(count) of this one; \(opening)"
        case .noDiscovery:
            "\(place) does not run here, or does not answer\(Self.privacy), so machines do not find each other by name, "
                + "only by address"
                + (place == "Avahi"
                    ? "; on Debian run: sudo apt install avahi-daemon" : "; restart this machine")
        default: nil
        }
    }

    /// What opens the port in each firewall.
    private var opening: String {
        switch subject {
        case "ufw": "run: sudo ufw allow \(count)/tcp"
        case "firewalld":
            "run: sudo firewall-cmd --permanent --add-port=\(count)/tcp && sudo firewall-cmd --reload"
        case "nftables": "add a rule like `tcp dport \(count) accept` before it"
        case "macOS": "allow scorebook-peer in System Settings > Network > Firewall > Options"
        default: "run: sudo iptables -I INPUT -p tcp --dport \(count) -j ACCEPT"
        }
    }

    private var peerText: String {
        switch code {
        case .noPeers: "no machine is paired with this one; `scorebook-peer pair` begins"
        case .noAddress:
            "it is not found on this network, and this machine has no address of it: it is off, elsewhere or hidden; run "
                + "`scorebook-peer listen` there, or `scorebook-peer connect HOST` here with its address"
        case .unknownName:
            "no machine is known by the name in \(place); use its address, or look at the spelling"
        case .connectionRefused:
            "the machine at \(place) is there, but nothing listens, or its firewall refuses; run `scorebook-peer listen` on "
                + "it, then \(Self.doctorAsRoot) there"
        case .noAnswer:
            "nothing answers at \(place): a firewall there keeps it silent, or the address is wrong; run "
                + "\(Self.doctorAsRoot) on that machine"
        case .noWay:
            "no way leads to \(place), or a firewall says so\(Self.privacy); check that both machines are in one "
                + "network, and run \(Self.doctorAsRoot) there"
        case .nobodyThere:
            "no machine of this network has the address \(place) now: it is off, asleep, or has another address; look "
                + "there, and `scorebook-peer connect` with the new one"
        case .nobodyThereOrKeptApart:
            "no machine answers for \(place), although the network's own does: it is off, asleep or elsewhere, or this "
                + "Wi-Fi keeps its machines apart; try a cable, or look for “client isolation” in the Wi-Fi's settings"
        case .forbiddenHere: "this machine itself forbids connections to \(place); look at its own firewall"
        case .strangerListens:
            "what listens at \(place) is no scorebook; look at the address and the port"
        case .incompatible:
            "the machine at \(place) has a version that does not fit this one; install the same version on both"
        case .cutOff:
            error == .timeout
                ? "\(place) takes the connection and then says nothing; start `scorebook-peer listen` there anew"
                : "\(place) ends the connection\(error.map { " (\($0))" } ?? ""); look at what `listen` says there"
        case .thisMachine: "\(place) is this machine itself; name the other one"
        case .wrongMachine:
            "another machine has the address \(place) now; find out the right one, and `scorebook-peer connect` with it"
        case .notPaired:
            "the machine at \(place) is not paired with this one; run `scorebook-peer pair` on one and "
                + "`scorebook-peer pair NNN-NNN` on the other"
        case .notPairedThere:
            "it is not paired with this machine any more; run `scorebook-peer pair` there and "
                + Hint.filled("`scorebook-peer pair NNN-NNN --with HOST` here", ["HOST": place])
        case .removedThere:
            "it knows that this machine was removed from the household; \(Hint.ofSync[.removed] ?? "pair it anew")"
        case .answers: "answers at \(place), and both know each other"
        case .clocksDiffer:
            "its clock is \(duration) \(isBehind ? "behind" : "ahead of") this machine's; where the clock is wrong, "
                + "\(Self.settingTheClock)"
        case .noCommonZone: "the two share no zone; `scorebook-peer peers grant NAME ZONE write` shares one"
        case .differentZones:
            "the two have different scorebooks; "
                + Hint.filled(
                    "`scorebook-peer connect HOST` asks what becomes of them", ["HOST": place])
        case .peerSwitchedOff: "sync was switched off there; run `scorebook-peer sync on` on it"
        case .lastError: lastErrorText
        case .longAway:
            "not in sync for \(count.counted("day")), and until it is, this machine forgets no deletion; let the two meet, or "
                + Hint.filled("end the pairing with `scorebook-peer peers forget NAME`", ["NAME": peer])
        // Named one by one: so a new code cannot be without words.
        case .noStore, .unreadable, .unwritable, .readOnlyDisk, .diskFull, .diskAlmostFull, .noKey,
            .keyUnusable,
            .damaged, .newerStore, .storeUnusable, .unsound, .sound, .switchedOff, .clockUnset, .clockWrong,
            .writesInFuture,
            .held, .refused, .unsynced, .noNetwork, .notListening, .listening, .listeningToItself, .portTaken,
            .firewallBlocks, .firewallMayBlock, .noDiscovery, .mailboxInStep, .mailboxUnused, .mailboxFailed,
            .mailboxUnreadable:
            code.rawValue
        }
    }

    private var lastErrorText: String {
        if let reason {
            return "the last session ended with an error: \(Hint.naming(peer, in: reason, about: reason))"
        }
        let hint = error.flatMap { Hint.ofSync[$0] }.map { "; \($0)" } ?? ""
        return "the last session ended with an error\(hint), and `status` says more"
    }

    /// The command that also reads the rules of a firewall. Without the directory it would look at a scorebook of root.
    private static let doctorAsRoot = "`sudo scorebook-peer doctor --store ~/.local/share/scorebook-peer`"

    /// What also keeps a program of a Mac from its network, unless Apple's Terminal, `ssh`, root or a daemon of launchd has started it.
    private static var privacy: String {
        #if canImport(Darwin)
            ", or System Settings > Privacy & Security > Local Network does not allow it to this terminal or the service "
                + "(Apple's Terminal and ssh need no leave)"
        #else
            ""
        #endif
    }

    private var isBehind: Bool { (number ?? 0) < 0 }

    /// What lets the network set a clock.
    private static var settingTheClock: String {
        #if canImport(Darwin)
            "let the network set it, in the system's settings under “Date & Time”"
        #else
            "let the network set it: sudo timedatectl set-ntp true"
        #endif
    }

    /// A number of milliseconds as people say it.
    private var duration: String {
        let seconds = Int(abs(number ?? 0) / 1000)
        let (minutes, hours) = ((seconds + 30) / 60, (seconds + 1800) / 3600)
        if minutes < 120 { return minutes.counted("minute") }
        return hours < 48 ? hours.counted("hour") : ((seconds + 43_200) / 86_400).counted("day")
    }
}

extension Finding.Severity {
    var word: String {
        switch self {
        case .fine: "ok"
        case .warning: "warning"
        case .problem: "problem"
        }
    }
}

extension Finding {
    /// The exit code of a command that found nothing worse before.
    var exitCode: ExitCode {
        switch code {
        case .noStore: .noInput
        case .unreadable, .unwritable, .readOnlyDisk, .diskFull, .storeUnusable: .cannotCreate
        case .noKey, .keyUnusable: .configuration
        case .damaged, .newerStore, .unsound, .strangerListens, .incompatible, .mailboxUnreadable:
            .dataError
        case .cutOff, .peerSwitchedOff: .temporaryFailure
        case .noNetwork, .portTaken, .firewallBlocks, .unknownName, .connectionRefused, .noAnswer, .noWay,
            .nobodyThere, .nobodyThereOrKeptApart, .forbiddenHere, .mailboxFailed:
            .unavailable
        case .lastError: Failure(PeerSyncError(error ?? .interrupted, "")).code
        default: .refused
        }
    }
}
