import SyncModel

extension VectorFile {
    /// Conversations of Negentropy.
    static func reconciliation() throws -> VectorFile {
        VectorFile(
            "reconciliation.json",
            "Conversations of Negentropy Protocol V1, the caller's messages and the listener's in turn, as the "
                + "reference implementation of Negentropy splits ranges. Another implementation may split them "
                + "otherwise; what the caller finds that it has and needs must be the same. A frame size limit of 0 is "
                + "none.",
            section: "7.10",
            [
                (
                    "cases",
                    [
                        try conversation("nothing on either side", 0, 0, 0),
                        try conversation("nothing on one side", 0, 0, 3),
                        try conversation("the same on both sides", 5, 0, 0),
                        try conversation("few items", 10, 2, 3),
                        try conversation("more than one bucket", 90, 3, 4),
                        try conversation("many items in frames", 150, 60, 60, frameSizeLimit: 4096),
                    ]
                )
            ])
    }

    /// `shared` items of both, then some of one side only; several have one timestamp.
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
        var message: [UInt8]? = initiator.initiate()
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

    private static func item(_ number: Int) -> NegentropyItem {
        let bytes = BLAKE2b.hash(Array("item \(number)".utf8), length: 32)
        guard let id = NegentropyID(bytes) else { preconditionFailure("an id has 32 bytes") }
        // Not in the order of the numbers, and some timestamps twice.
        return NegentropyItem(timestamp: UInt64(Samples.moment) + UInt64(bytes[0]) * 100, id: id)
    }

    private static func describe(_ item: NegentropyItem) -> JSON {
        [.decimal(item.timestamp), .hex(item.id.bytes)]
    }
}
