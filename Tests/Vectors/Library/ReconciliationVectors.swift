import PeerSyncModel

extension VectorFile {
    /// Conversations in Negentropy.
    static func reconciliation() throws -> VectorFile {
        VectorFile(
            "reconciliation.json",
            "Conversations of Negentropy Protocol V1, the caller's messages and the listener's in turn, as the "
                + "reference implementation of Negentropy splits ranges. Another implementation may split them "
                + "otherwise; what the caller finds that it has and needs must be the same. A frame size limit of 0 is "
                + "none. `single` are messages for a side that has no items: some are malformed.",
            section: "7.10, negentropy.md",
            [
                (
                    "single",
                    .array(
                        singleMessages.map { why, bytes, isMalformed in
                            [
                                "why": .string(why), "bytes": .hex(bytes), "malformed": .bool(isMalformed),
                            ]
                        })
                ),
                (
                    "cases",
                    [
                        try conversation("nothing on either side", 0, 0, 0),
                        try conversation("nothing on one side", 0, 0, 3),
                        try conversation("the same on both sides", 5, 0, 0),
                        try conversation("few items", 10, 2, 3),
                        try conversation("more than one bucket", 90, 3, 4),
                        try conversation("many items in frames", 150, 60, 60, frameSizeLimit: 4096),
                        try conversation(
                            "ranges that are listed twice, of sides that have nothing in common", 0, 34, 300,
                            frameSizeLimit: 4096),
                    ]
                ),
            ])
    }

    /// A conversation about `shared` items of both sides, then some of one side only. Several items have the same
    /// timestamp.
    private static func conversation(
        _ why: String, _ shared: Int, _ mine: Int, _ theirs: Int, frameSizeLimit: Int = 0
    ) throws -> JSON {
        let all = (0..<shared + mine + theirs).map(item)
        let caller = Array(all.prefix(shared + mine))
        let listener = Array(all.prefix(shared) + all.suffix(theirs))
        var initiator = NegentropyInitiator(
            storage: try NegentropyVector(caller), frameSizeLimit: frameSizeLimit)
        let responder = NegentropyResponder(
            storage: try NegentropyVector(listener), frameSizeLimit: frameSizeLimit)
        var messages: [JSON] = []
        var have: [NegentropyID] = []
        var need: [NegentropyID] = []
        var message: [UInt8]? = try initiator.initiate()
        while let question = message {
            let answer = try responder.reconcile(question)
            messages += [.hex(question), .hex(answer)]
            let step = try initiator.reconcile(answer)
            have += step.have
            need += step.need
            message = step.message
        }
        return [
            "why": .string(why), "frameSizeLimit": .number(frameSizeLimit),
            "caller": .array(caller.map(describe)), "listener": .array(listener.map(describe)),
            "messages": .array(messages),
            "have": .array(have.sorted().map { .hex($0.bytes) }),
            "need": .array(need.sorted().map { .hex($0.bytes) }),
        ]
    }

    /// Messages that a reader accepts or refuses.
    package static var singleMessages: [(why: String, bytes: [UInt8], isMalformed: Bool)] {
        let id = [UInt8](repeating: 7, count: NegentropyID.byteCount)
        let fingerprint = NegentropySum().fingerprint(count: 0)
        let later: [UInt8] = [0x61, 0x09, 0x00, 0x00]
        return [
            ("no ranges", [0x61], false),
            ("a range up to infinity twice", [0x61, 0, 0, 0, 0, 0, 1] + fingerprint, false),
            ("a bound twice", later + [0x01, 0x00, 0x00], false),
            ("a bound with the whole of an id", [0x61, 0x09, 0x20] + id + [0], false),
            ("a bound with more than that", [0x61, 0x09, 0x21] + id + [7, 0], true),
            ("a bound below the one before", [0x61, 0x09, 0x01, 0x03, 0, 0x01, 0, 0], true),
            ("a bound behind infinity", [0x61, 0, 0, 0, 0x05, 0, 0], true),
            ("a mode that is none", [0x61, 0, 0, 3], true),
            ("a number that begins with nothing", [0x61, 0x80, 0x09, 0, 0], true),
            (
                "a number of more than 64 bits",
                [0x61] + [UInt8](repeating: 0xFF, count: 10) + [0x7F, 0, 0], true
            ),
            ("the end in a number", [0x61, 0x89], true),
            ("the end in a bound", [0x61, 0x09, 0x02, 0x01], true),
            ("the end behind a bound", [0x61, 0, 0], true),
            ("the end in a fingerprint", [0x61, 0, 0, 1] + fingerprint.dropLast(), true),
            ("the end in an id", [0x61, 0, 0, 2, 1] + id.dropLast(), true),
            ("more ids than there are bytes", [0x61, 0, 0, 2, 2] + id, true),
        ]
    }

    private static func item(_ number: Int) -> NegentropyItem {
        let bytes = BLAKE2b.hash(Array("item \(number)".utf8), length: 32)
        guard let id = NegentropyID(bytes) else { preconditionFailure("an id has 32 bytes") }
        // The order differs from that of the numbers, and some timestamps occur twice.
        return NegentropyItem(timestamp: UInt64(Samples.moment) + UInt64(bytes[0]) * 100, id: id)
    }

    private static func describe(_ item: NegentropyItem) -> JSON {
        [.decimal(item.timestamp), .hex(item.id.bytes)]
    }
}
