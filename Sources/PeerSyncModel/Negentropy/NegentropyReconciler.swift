/// The work that both roles do: read a message, and answer each of its ranges in the next message.
///
/// The reconciler has no changing state: a round knows only the message and the items. The messages are, byte for
/// byte, those of the reference implementation, with one exception; see `Round.end`.
struct NegentropyReconciler: Sendable {
    enum Role { case initiator, responder }

    struct Answer {
        var message: [UInt8]
        /// For the initiator: the ranges of which the other side has listed all ids, as indices of own items, with
        /// these ids. Ranges are disjoint and ascend.
        var lists: [(own: Range<Int>, theirs: NegentropyIDList)]
    }

    let storage: any NegentropyStorage
    let role: Role
    /// The greatest length of a message in bytes; 0 for no limit.
    let frameSizeLimit: Int

    init(storage: any NegentropyStorage, role: Role, frameSizeLimit: Int) {
        precondition(
            frameSizeLimit == 0 || frameSizeLimit >= NegentropyV1.minimumFrameSize,
            "the frame size limit is 0 for none, or at least \(NegentropyV1.minimumFrameSize)")
        self.storage = storage
        self.role = role
        self.frameSizeLimit = frameSizeLimit
    }

    /// Returns the first message.
    func opening() throws(NegentropyError) -> [UInt8] {
        var writer = NegentropyWriter()
        try writer.split(0..<storage.count, of: storage, upTo: .infinity)
        return writer.message
    }

    /// Returns the answer to `message`; one byte long if nothing is left to say.
    func answer(to message: [UInt8]) throws(NegentropyError) -> Answer {
        var reader = NegentropyReader(message)
        let version = try reader.version()
        guard version == NegentropyV1.versionByte else {
            // A responder names the version that it speaks. An initiator speaks no other version.
            guard role == .responder else { throw .unsupportedVersion(version) }
            return Answer(message: [NegentropyV1.versionByte], lists: [])
        }
        var round = Round(self)
        while !round.isFull, let range = try reader.range() {
            try round.take(range)
        }
        return Answer(message: round.writer.message, lists: round.lists)
    }
}

extension NegentropyReconciler {
    /// The work on one incoming message.
    private struct Round {
        private let storage: any NegentropyStorage
        private let role: Role
        private let frameSizeLimit: Int

        private(set) var writer = NegentropyWriter()
        private(set) var lists: [(own: Range<Int>, theirs: NegentropyIDList)] = []
        /// Whether the frame is full. A later round handles the rest of the incoming message.
        private(set) var isFull = false

        /// Where the next range begins.
        private var lower = 0
        /// The index of the first own item that the message does not cover yet.
        private var written = 0
        /// The end of the settled ranges after ``written``. The round writes a skip for them only if another range
        /// follows.
        private var settled: NegentropyBound?

        init(_ reconciler: NegentropyReconciler) {
            storage = reconciler.storage
            role = reconciler.role
            frameSizeLimit = reconciler.frameSizeLimit
        }

        mutating func take(_ range: NegentropyRange) throws(NegentropyError) {
            let end = try storage.lowerBound(of: range.upperBound.position, in: lower..<storage.count)
            let own = lower..<end
            lower = end
            switch range.payload {
            case .skip: settled = range.upperBound
            case .fingerprint(let theirs): try compare(own, with: theirs, upTo: range.upperBound)
            case .idList(let theirs):
                switch role {
                case .initiator:
                    // Millions of empty lists fit into a message, and say nothing.
                    if !own.isEmpty || !theirs.isEmpty { lists.append((own, theirs)) }
                    settled = range.upperBound
                case .responder: try list(own, upTo: range.upperBound)
                }
            }
        }

        private mutating func compare(
            _ own: Range<Int>, with theirs: ArraySlice<UInt8>, upTo bound: NegentropyBound
        ) throws(NegentropyError) {
            guard !theirs.elementsEqual(try storage.fingerprint(of: own)) else {
                settled = bound
                return
            }
            let length = writer.message.count
            writeSkip()
            try writer.split(own, of: storage, upTo: bound)
            if exceedsFrame(writer.message.count) {
                try end(keeping: length, without: own, theirs: theirs)
            } else {
                written = own.upperBound
            }
        }

        /// Lists the own ids, or as many of them as fit, so that the initiator can find the difference.
        private mutating func list(_ own: Range<Int>, upTo bound: NegentropyBound) throws(NegentropyError) {
            let length = writer.message.count
            writeSkip()
            let fitting = own.prefix(idsThatFit(behind: length))
            let isCut = fitting.count < own.count
            writer.append(
                idsOf: try storage.items(in: fitting),
                upTo: isCut ? NegentropyBound(before: try storage.item(at: fitting.upperBound)) : bound)
            written = fitting.upperBound
            if exceedsFrame(writer.message.count) {
                isFull = true
                let rest = written..<storage.count
                writer.end(keeping: writer.message.count, fingerprint: try storage.fingerprint(of: rest))
            }
        }

        /// Ends the message with one fingerprint, because the answer to a range did not fit.
        ///
        /// The fingerprint covers everything after the last bound that the message keeps, as the specification says.
        /// The reference implementation omits the items of the range that did not fit. Mostly that does no harm: the
        /// other side finds a difference either way. But if the other side has nothing in that range, its items may
        /// equal the remaining ones; then it ends the reconciliation without the omitted items. Its fingerprint tells
        /// whether it has nothing there. Only then does this message differ from the reference implementation's.
        private mutating func end(keeping length: Int, without own: Range<Int>, theirs: ArraySlice<UInt8>)
            throws(NegentropyError)
        {
            isFull = true
            let theyHaveNone = theirs.elementsEqual(try storage.fingerprint(of: 0..<0))
            let rest = (theyHaveNone ? written : own.upperBound)..<storage.count
            writer.end(keeping: length, fingerprint: try storage.fingerprint(of: rest))
        }

        private mutating func writeSkip() {
            guard let bound = settled else { return }
            writer.appendSkip(upTo: bound)
            settled = nil
        }

        private func exceedsFrame(_ length: Int) -> Bool {
            frameSizeLimit > 0 && length > frameSizeLimit - NegentropyV1.frameReserve
        }

        /// Returns the number of ids that may follow `length` bytes, which fit into the frame. The last of these ids
        /// is the one that exceeds the frame.
        private func idsThatFit(behind length: Int) -> Int {
            guard frameSizeLimit > 0 else { return .max }
            return (frameSizeLimit - NegentropyV1.frameReserve - length) / NegentropyID.byteCount + 1
        }
    }
}

extension NegentropyWriter {
    /// Appends what the other side needs to narrow down the difference in a range: all ids if they are few, otherwise
    /// the fingerprints of 16 parts of equal size. If the size is no multiple of 16, the first parts have one item
    /// more.
    fileprivate mutating func split(
        _ range: Range<Int>, of storage: any NegentropyStorage, upTo bound: NegentropyBound
    ) throws(NegentropyError) {
        guard range.count >= NegentropyV1.buckets * 2 else {
            append(idsOf: try storage.items(in: range), upTo: bound)
            return
        }
        let (size, larger) = range.count.quotientAndRemainder(dividingBy: NegentropyV1.buckets)
        var lower = range.lowerBound
        for bucket in 0..<NegentropyV1.buckets {
            let upper = lower + size + (bucket < larger ? 1 : 0)
            let isLast = upper == range.upperBound
            append(
                fingerprint: try storage.fingerprint(of: lower..<upper),
                upTo: isLast
                    ? bound
                    : NegentropyBound(
                        between: try storage.item(at: upper - 1), and: try storage.item(at: upper)))
            lower = upper
        }
    }
}
