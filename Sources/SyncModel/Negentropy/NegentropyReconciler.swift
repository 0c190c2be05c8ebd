/// What both roles do: take a message in, and say about every range of it what has to be said in the next.
///
/// Holds nothing that changes: all that a round knows comes from the message and the items. The messages are, byte
/// for byte, those of the reference implementation, with one exception; see `Round.end`.
struct NegentropyReconciler<Storage: NegentropyStorage>: Sendable {
    enum Role { case initiator, responder }

    struct Answer {
        var message: [UInt8]
        /// For the initiator: the ranges that the other side has listed whole, as indices of own items, with the
        /// ids that are there. Ranges are disjoint and ascend.
        var lists: [(own: Range<Int>, theirs: NegentropyIDList)]
    }

    let storage: Storage
    let role: Role
    /// The greatest length of a message in bytes; 0 is none.
    let frameSizeLimit: Int

    init(storage: Storage, role: Role, frameSizeLimit: Int) {
        precondition(
            frameSizeLimit == 0 || frameSizeLimit >= NegentropyV1.minimumFrameSize,
            "the frame size limit is 0 for none, or at least \(NegentropyV1.minimumFrameSize)")
        self.storage = storage
        self.role = role
        self.frameSizeLimit = frameSizeLimit
    }

    /// The first message.
    func opening() -> [UInt8] {
        var writer = NegentropyWriter()
        writer.split(0..<storage.count, of: storage, upTo: .infinity)
        return writer.message
    }

    /// The message that follows from `message`; one byte long if nothing is left to say.
    func answer(to message: [UInt8]) throws(NegentropyError) -> Answer {
        var reader = NegentropyReader(message)
        let version = try reader.version()
        guard version == NegentropyV1.versionByte else {
            // A responder names the version that it can speak; an initiator has none to fall back to.
            guard role == .responder else { throw .unsupportedVersion(version) }
            return Answer(message: [NegentropyV1.versionByte], lists: [])
        }
        var round = Round(self)
        while !round.isFull, let range = try reader.range() {
            round.take(range)
        }
        return Answer(message: round.writer.message, lists: round.lists)
    }
}

extension NegentropyReconciler {
    /// One message on its way through.
    private struct Round {
        private let storage: Storage
        private let role: Role
        private let frameSizeLimit: Int

        private(set) var writer = NegentropyWriter()
        private(set) var lists: [(own: Range<Int>, theirs: NegentropyIDList)] = []
        /// Whether the frame is used up; the rest of the incoming message is then for a later round.
        private(set) var isFull = false

        /// Where the next range begins.
        private var lower = 0
        /// Up to which own item the message says something.
        private var written = 0
        /// The end of what is settled since then, for which a skip is only written when something follows.
        private var settled: NegentropyBound?

        init(_ reconciler: NegentropyReconciler) {
            storage = reconciler.storage
            role = reconciler.role
            frameSizeLimit = reconciler.frameSizeLimit
        }

        mutating func take(_ range: NegentropyRange) {
            let end = storage.lowerBound(of: range.upperBound.position, in: lower..<storage.count)
            let own = lower..<end
            lower = end
            switch range.payload {
            case .skip: settled = range.upperBound
            case .fingerprint(let theirs): compare(own, with: theirs, upTo: range.upperBound)
            case .idList(let theirs):
                switch role {
                case .initiator:
                    lists.append((own, theirs))
                    settled = range.upperBound
                case .responder: list(own, upTo: range.upperBound)
                }
            }
        }

        private mutating func compare(
            _ own: Range<Int>, with theirs: ArraySlice<UInt8>, upTo bound: NegentropyBound
        ) {
            guard !theirs.elementsEqual(storage.fingerprint(of: own)) else {
                settled = bound
                return
            }
            let length = writer.message.count
            writeSkip()
            writer.split(own, of: storage, upTo: bound)
            if exceedsFrame(writer.message.count) {
                end(keeping: length, without: own, theirs: theirs)
            } else {
                written = own.upperBound
            }
        }

        /// Lists the own ids, or as many of them as fit, so that the initiator can find the difference.
        private mutating func list(_ own: Range<Int>, upTo bound: NegentropyBound) {
            let length = writer.message.count
            writeSkip()
            let fitting = own.prefix(idsThatFit(behind: length))
            let isCut = fitting.count < own.count
            writer.append(
                idsOf: storage.items(in: fitting),
                upTo: isCut ? NegentropyBound(before: storage.item(at: fitting.upperBound)) : bound)
            written = fitting.upperBound
            if exceedsFrame(writer.message.count) {
                isFull = true
                let rest = written..<storage.count
                writer.end(keeping: writer.message.count, fingerprint: storage.fingerprint(of: rest))
            }
        }

        /// Ends the message with one fingerprint, because the answer to a range did not fit.
        ///
        /// The fingerprint is for everything after the last bound that is kept, as the specification has it; the
        /// reference implementation leaves out the items of the range that did not fit. Mostly that does no harm:
        /// whichever it is, the other side finds that it differs. But if the other side has nothing in that range,
        /// its items may equal what is left, and then it ends the reconciliation without the items left out. Its
        /// fingerprint tells when it has nothing there; only then is this message not the reference's.
        private mutating func end(keeping length: Int, without own: Range<Int>, theirs: ArraySlice<UInt8>) {
            isFull = true
            let theyHaveNone = theirs.elementsEqual(storage.fingerprint(of: 0..<0))
            let rest = (theyHaveNone ? written : own.upperBound)..<storage.count
            writer.end(keeping: length, fingerprint: storage.fingerprint(of: rest))
        }

        private mutating func writeSkip() {
            guard let bound = settled else { return }
            writer.appendSkip(upTo: bound)
            settled = nil
        }

        private func exceedsFrame(_ length: Int) -> Bool {
            frameSizeLimit > 0 && length > frameSizeLimit - NegentropyV1.frameReserve
        }

        /// How many ids may follow `length` bytes, which are within the frame: up to and with the one that exceeds
        /// it.
        private func idsThatFit(behind length: Int) -> Int {
            guard frameSizeLimit > 0 else { return .max }
            return (frameSizeLimit - NegentropyV1.frameReserve - length) / NegentropyID.byteCount + 1
        }
    }
}

extension NegentropyWriter {
    /// Says of a range what lets the other side narrow down the difference: all ids if they are few, otherwise the
    /// fingerprints of 16 parts of equal size; the first parts have one item more if need be.
    fileprivate mutating func split(
        _ range: Range<Int>, of storage: some NegentropyStorage, upTo bound: NegentropyBound
    ) {
        guard range.count >= NegentropyV1.buckets * 2 else {
            append(idsOf: storage.items(in: range), upTo: bound)
            return
        }
        let (size, larger) = range.count.quotientAndRemainder(dividingBy: NegentropyV1.buckets)
        var lower = range.lowerBound
        for bucket in 0..<NegentropyV1.buckets {
            let upper = lower + size + (bucket < larger ? 1 : 0)
            let isLast = upper == range.upperBound
            append(
                fingerprint: storage.fingerprint(of: lower..<upper),
                upTo: isLast
                    ? bound
                    : NegentropyBound(between: storage.item(at: upper - 1), and: storage.item(at: upper)))
            lower = upper
        }
    }
}
