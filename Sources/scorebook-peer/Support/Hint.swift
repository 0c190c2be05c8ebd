import PeerSync
import PeerSyncStore

/// What people can do about an error of the engine. The engine knows no commands; it says what is wrong, and a code.
enum Hint {
    static let ofSync: [PeerSyncError.Code: String] = [
        .notPaired:
            "run `scorebook-peer listen --pair` on one and `scorebook-peer connect HOST --code NNN-NNN`, with the code "
            + "it shows, on the other",
        .pairingUnavailable: "run `scorebook-peer listen --pair` on that machine to get a new one",
        .changeTokenExpired:
            "run `scorebook-peer connect HOST --start-over` on it, which takes the other scorebook over and keeps what "
            + "was written on it since the last sync",
        .clockSkew:
            "set the clock that is wrong, and if it was the writer's, run `scorebook-peer clock repair` there",
        .sameIdentity:
            "run `scorebook-peer identity renew` on the copy to make it a replica of its own",
        .noCommonZone: "`scorebook-peer peers grant NAME ZONE write` shares one",
        .notPermitted:
            "`scorebook-peer peers grant NAME ZONE RIGHTS` decides what a machine may do in a zone",
        .differentZones:
            "`connect HOST --beside` keeps the other scorebook beside this one, `--merge` makes them one (with "
            + "`listen --merge` there, if both are shared), and `--store DIR` uses another store",
        .notAllowed:
            "on the machine that was called, `scorebook-peer listen` asks on a terminal, and with --allow-reset, or "
            + "--merge to make one of two, allows it without asking",
        .switchedOff: "`scorebook-peer sync on` switches it on",
        .unsafeIdentity: "run: chmod 600 FILE",
        .foreignIdentity: "run this as that user, or choose another store with --store DIR",
        .damagedRecord: repair,
    ]

    static let ofStore: [RecordStoreError.Code: String] = [
        .noSuchZone: "`zone list` shows those there are",
        .noSuchPeer: "`peers` lists those that are",
        .sharedZone: "run `scorebook-peer peers forget` for that machine first",
        .damagedRecord: repair,
    ]

    private static let repair = "`scorebook-peer status --check --repair` and a sync mend it"

    fileprivate static func sentence(_ message: String, _ hint: String?) -> String {
        hint.map { "\(message); \($0)" } ?? message
    }
}

extension PeerSyncError {
    /// What is wrong, and what helps.
    var explanation: String {
        let hint = Hint.ofSync[code]
        return Hint.sentence(message, path.flatMap { hint?.replacing("FILE", with: $0) } ?? hint)
    }
}

extension RecordStoreError {
    /// What is wrong, and what helps.
    var explanation: String { Hint.sentence(message, Hint.ofStore[code]) }
}

extension AppWords {
    static let scorebook = AppWords(backupName: "scorebook", explanation: { $0.explanation })
}
