import PeerSyncModel
import PeerSyncProtocol
import TestSupport

/// What two sides make of each other's hellos: the same.
enum MeetingTarget {
    private static let unions: [ZoneUnion] = [.none, .merge, .beside, .replaceCaller, .replaceListener]

    static func run(_ input: inout FuzzInput) throws {
        let (caller, listener) = (offers(&input), offers(&input))
        guard let meeting = ZoneMeeting(caller: caller, listener: listener) else {
            return try expect(
                !caller.contains(where: \.isDefault) || !listener.contains(where: \.isDefault),
                "two default zones do not meet")
        }
        try expect(!(meeting.areTheSame && meeting.isFirst), "one zone meets itself for the first time")
        let ids = [meeting.caller.id, meeting.listener.id]
        for union in unions {
            guard let id = meeting.id(after: union) else {
                try expect(union == .none && !meeting.areTheSame, "\(union) leads to no zone")
                continue
            }
            try expect(ids.contains(id), "\(union) leads to a zone of nobody's")
        }
        // Which of the two is the caller makes no difference to where they meet.
        let other = ZoneMeeting(caller: listener, listener: caller)
        try expect(other?.id(after: .merge) == meeting.id(after: .merge), "the two do not meet")
        try expect(other?.usual == meeting.usual, "what is usual depends on who calls")
        try expect(
            other?.isPossible(.merge) == meeting.isPossible(.merge), "who may merge depends on who calls")
        if meeting.caller.isShared || meeting.listener.isShared, !meeting.isPlain {
            try expect(meeting.usual == nil, "a shared scorebook is mixed without a word")
        }
    }

    static func offers(_ input: inout FuzzInput) -> [ZoneOffer] {
        (0..<input.number(below: 4)).map { _ in
            let flags = input.byte()
            let name = ZoneName(["ScorebookData", "club"][Int(flags >> 3 & 1)])!
            return ZoneOffer(
                id: ZoneID(name: name, owner: ReplicaID(rawValue: UInt64(flags >> 4 & 3))), name: "zone",
                isDefault: flags & 1 == 1, isShared: flags & 2 == 2, rights: flags & 4 == 4 ? .write : .read,
                recordCount: UInt64(flags >> 6 & 1),
                fingerprint: [UInt8](repeating: flags >> 7, count: ZoneOffer.fingerprintLength))
        }
    }
}
