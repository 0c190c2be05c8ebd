import PeerSync
import PeerSyncMailbox
import Scorebook

/// What people can do about an error of the engine. The engine knows no commands; it says what is wrong, and a code.
enum Hint {
    static let ofSync: [PeerSyncError.Code: String] = [
        .notPaired:
            "run `scorebook-peer pair` on one and `scorebook-peer pair NNN-NNN`, with the code it shows, on the other",
        .removed:
            "if that was not meant, pair it anew: `scorebook-peer pair` on a machine of the household, and `scorebook-peer pair "
            + "NNN-NNN` on the removed one",
        .householdFull: fullHousehold,
        .pairingUnavailable: "run `scorebook-peer pair` on that machine to get a new one",
        .otherMachine:
            "somebody announces itself in its name, or it has a new key: `scorebook-peer pair` pairs it again",
        .noDiscovery:
            "check that the system's service for it runs (Avahi on Linux); addresses still work, as in `pair NNN-NNN --with HOST`",
        .noMachineFound:
            "run `scorebook-peer pair` on that machine, or give its address with `pair NNN-NNN --with HOST`",
        .severalMachinesFound: "say which one is meant, with `pair NNN-NNN --with HOST`",
        .changeTokenExpired:
            "run `scorebook-peer connect HOST --start-over` on it, which takes the other scorebook over and keeps what "
            + "was written on it since the last sync",
        .clockSkew: wrongClock,
        .sameIdentity:
            "run `scorebook-peer identity renew` on the copy to make it a machine of its own",
        .noCommonZone: "`scorebook-peer peers grant NAME ZONE write` shares one",
        .notPermitted:
            "`scorebook-peer peers grant NAME ZONE RIGHTS` decides what a machine may do in a zone",
        .differentZones:
            "`connect HOST --beside` keeps the other scorebook beside this one, `--merge` makes them one (end `listen` "
            + "there and start it with `listen --merge`), and `--store DIR` uses another store",
        .notAllowed:
            "on the machine that was called, `scorebook-peer listen` asks on a terminal, and with --allow-reset, or "
            + "--merge to make one of two, allows it without asking",
        .switchedOff: "`scorebook-peer sync on` switches it on",
        .unsafeIdentity: "run: chmod 600 FILE",
        .foreignIdentity: "run this as that user, or choose another store with --store DIR",
        .missingIdentity:
            "put it back, or `scorebook-peer identity renew` begins anew, with no pairings",
        .damagedRecord: repair,
    ]

    /// What makes of two scorebooks that one machine has beside each other two that meet. HOST is the other machine, ZONE what the other
    /// scorebook is called here.
    static let meetingAnew =
        "only where a zone here is the whole scorebook of HOST (`--beside`), `scorebook-peer peers revoke HOST ZONE`, `zone delete ZONE "
        + "--yes` and `peers forget HOST` end that, and the two meet anew when you pair them again"

    /// What replaces one of two scorebooks that are one already, as a union for two that meet would; nil for one that replaces none.
    static func startingOver(_ union: ZoneUnion, with machine: String) -> String? {
        let text: String? =
            switch union {
            case .replaceCaller: "`scorebook-peer reset --from HOST` starts over with what is there"
            case .replaceListener: "`scorebook-peer reset --to HOST` starts over with what is here"
            case .none, .merge, .beside: nil
            }
        return text.map { filled($0, ["HOST": machine]) }
    }

    /// What is wrong, in the words of people, where the engine's sentence has names that only programs understand.
    fileprivate static func words(_ error: PeerSyncError) -> String? {
        guard error.code == .differentZones else { return nil }
        let counts = error.message.matches(of: /”, with ([0-9]+ records?) on the/).map { $0.output.1 }
        let what =
            counts.count == 2
            ? ", with \(counts[0]) on the machine that connected and \(counts[1]) on the other" : ""
        return "the two scorebooks are different ones\(what), and at least one of them is shared with other "
            + "machines already"
    }

    /// What helps where the engine's sentence says more than its code; nil elsewhere.
    fileprivate static func special(_ error: PeerSyncError, with machine: String?) -> String? {
        if error.code == .clockSkew, error.message.contains("nothing was replaced") {
            return "\(wrongClock), or give both machines the same --allowed-skew"
        }
        guard isOfMeeting(error) else { return nil }
        let zone = error.message.firstMatch(of: /“(.+)” is beside/).map { String($0.output.1) }
        // The session may have ended before anybody knew the machine's name, and these commands take no address.
        let name = machine.flatMap { $0.contains(":") ? nil : $0 }
        return filled(meetingAnew, ["HOST": name, "ZONE": zone])
    }

    /// What a line about an event has in place of the commands of ``meetingAnew``: on the machine that was called they would delete what the
    /// other one's user wanted to replace or to take over. The caller's command ends with them.
    fileprivate static func ofEvent(_ error: PeerSyncError) -> String? {
        isOfMeeting(error) ? "nothing has changed" : nil
    }

    private static func isOfMeeting(_ error: PeerSyncError) -> Bool {
        error.code == .notPermitted && error.message.contains("default zone")
    }

    static let ofStore: [RecordStoreError.Code: String] = [
        .noSuchZone: "`zone list` shows those there are",
        .noSuchPeer: "`peers` lists those that are",
        .householdFull: fullHousehold,
        .sharedZone:
            "end that first: `scorebook-peer peers revoke NAME ZONE`, or `scorebook-peer peers forget`",
        .damagedRecord: repair,
    ]

    /// NAME is the mailbox, HOST the machine that has left what cannot be read on.
    fileprivate static let ofMailbox: [MailboxError.Code: String] = [
        .credentials: "`scorebook-peer mailbox remove NAME` and `mailbox add` give it other ones",
        .noAccess: "check who may read there",
        .notTrusted: "if it is your own server, `mailbox add` trusts it with --certificate FILE",
        .full: "make room there, and it goes on by itself",
        .readOnly: "check who may write there",
        .clockSkew: wrongClock,
        .emptied:
            "put the right one in its place; if it is, `scorebook-peer mailbox remove NAME` and `mailbox add` begin anew there",
        .sameIdentity:
            "if one of the two is a copy, run `scorebook-peer identity renew` on it; if it was a backup, `mailbox remove NAME` and `mailbox "
            + "add` begin anew there",
        .busy: "try again in a moment",
        .notShared:
            "`peers grant` there or a new pairing mends that, and `scorebook-peer peers forget HOST` ends it here",
        .wentBack: "nothing here is taken back, and it goes on when that machine has left something new",
        .waiting:
            "it comes by itself once it is there; if it never does, `scorebook-peer mailbox check NAME` and `mailbox sync` on that machine",
    ]

    /// A name as people copy it into a command; nil for one that a command would take for an option, or that a terminal does not show as it is.
    private static func word(_ name: String) -> String? {
        guard name.utf8.first != UInt8(ascii: "-"), Display.printable(name) == name else { return nil }
        return ShellWord.quoted(name)
    }

    /// Puts names into the places that a text has for them, where they can be words of a command. All at once: so no name is a place for another one.
    static func filled(_ text: String, _ names: [String: String?]) -> String {
        text.replacing(/NAME|HOST|ZONE|FILE/) { place in
            names["\(place.output)", default: nil].flatMap(word) ?? "\(place.output)"
        }
    }

    /// The command that lets a deleted zone come back.
    static func accepting(_ zone: String) -> String {
        filled("`scorebook-peer zone accept ZONE`", ["ZONE": zone])
    }

    /// What to do about a zone of which a machine waits for this one's consent.
    static func offered(_ zone: String, by machine: String) -> String {
        "\(machine) lets this machine have the zone “\(zone)”, which is here too; "
            + filled(
                "`scorebook-peer peers grant NAME ZONE write` takes part", ["NAME": machine, "ZONE": zone])
    }

    private static let wrongClock =
        "set the clock that is wrong, and if it was the writer's, run `scorebook-peer clock repair` there"

    private static let fullHousehold =
        "removing machines makes no room, because removals stay; machines that have no household in common, as after `identity "
        + "renew`, begin a new one when they are paired"

    /// Puts the other machine, by its name or address, into a text that has HOST for it, and says where the command runs.
    ///
    /// - Parameters:
    ///   - machine: nil if it is not known.
    ///   - path: what the text has FILE for.
    ///   - message: what is wrong. If it says that the other machine was away, that one runs the command, and HOST is this one, which
    ///     it may know by another name.
    static func naming(
        _ machine: String?, path: String? = nil, in text: String, about message: String
    ) -> String {
        guard let machine, !message.contains("“\(machine)” was away") else {
            return filled(text, ["FILE": path])
        }
        return filled(
            text.replacing("--start-over` on it", with: "--start-over` here"),
            ["HOST": machine, "FILE": path])
    }

    private static let repair = "`scorebook-peer status --check --repair` and a sync mend it"

    fileprivate static func sentence(_ message: String, _ hint: String?) -> String {
        hint.map { "\(message); \($0)" } ?? message
    }
}

extension PeerSyncError {
    /// What helps; nil if nothing is known that does.
    var hint: String? { hint(with: nil) }

    /// What helps, with the name or address of the other machine, if it is known.
    func hint(with machine: String?) -> String? {
        Hint.special(self, with: machine)
            ?? Hint.ofSync[code].map { Hint.naming(machine, path: path, in: $0, about: message) }
    }

    /// What is wrong, for people.
    var words: String { Hint.words(self) ?? message }

    /// What is wrong, and what helps.
    var explanation: String { Hint.sentence(words, Hint.ofEvent(self) ?? hint) }

    /// The same, with the name or address of the other machine.
    func explanation(with machine: String) -> String {
        Hint.sentence(words, Hint.ofEvent(self) ?? hint(with: machine))
    }
}

extension MailboxError {
    /// Why a mailbox cannot be used, also with what this machine keeps for it, as the passwords.
    init(_ error: any Error) {
        if let error = error as? MailboxError {
            self = error
        } else {
            let failure = Failure(error)
            self.init(.other, failure.message, underlying: failure)
        }
    }

    /// What helps; nil if the message says all.
    ///
    /// - Parameters:
    ///   - mailbox: what this machine calls the mailbox; nil if that is not known.
    ///   - machine: what it calls the machine that has left what cannot be read on.
    func hint(in mailbox: String?, of machine: String? = nil) -> String? {
        if let failure = underlying as? Failure { return failure.hint }
        if code == .away, let machine {
            return Hint.ofSync[.changeTokenExpired].map { Hint.naming(machine, in: $0, about: message) }
        }
        return Hint.ofMailbox[code].map { Hint.filled($0, ["NAME": mailbox, "HOST": machine]) }
    }

    /// What is wrong, and what helps.
    func explanation(in mailbox: String, of machine: String? = nil) -> String {
        Hint.sentence(message, hint(in: mailbox, of: machine))
    }
}

extension RecordStoreError {
    /// What is wrong, and what helps.
    var explanation: String { Hint.sentence(message, hint) }

    /// What helps; nil if nothing is known that does.
    var hint: String? { Hint.ofStore[code] }
}

extension AppWords {
    static let scorebook = AppWords(backupName: "scorebook", explanation: { $0.explanation })
}
