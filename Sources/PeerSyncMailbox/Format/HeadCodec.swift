import NIOCore
import PeerSyncModel
import PeerSyncProtocol

/// Makes and opens the objects of heads (Protocol/mailbox.md section 3).
package enum HeadCodec {
    /// Authors fill the slots up to a multiple of this, so that their number tells little.
    private static let slotMultiple = 8
    private static let zoneKind: UInt8 = 1
    private static let householdKind: UInt8 = 2

    /// The random numbers of a head: unpredictable, but for vectors.
    package struct Randomness: Sendable {
        let bytes: @Sendable (Int) -> [UInt8]
        /// Whether the slots stand in the order of the readers.
        let keepsOrder: Bool

        package static let system = Randomness(keepsOrder: false) { Sealing.randomBytes($0) }

        package init(keepsOrder: Bool, _ bytes: @escaping @Sendable (Int) -> [UInt8]) {
            self.keepsOrder = keepsOrder
            self.bytes = bytes
        }
    }

    // MARK: Making

    /// Makes a head.
    ///
    /// - Parameter laterFields: what a later version says behind the fields of the core; for vectors.
    package static func seal(
        _ head: Head, counter: UInt64, by secrets: AuthorSecrets, _ random: Randomness = .system,
        laterFields: [UInt8] = []
    ) -> [UInt8] {
        let author = secrets.author
        var plaintexts = head.zones.map { zone in
            var buffer = ByteBuffer(integer: zoneKind)
            zone.encode(into: &buffer)
            return Array(buffer.readableBytesView)
        }
        if let household = head.household { plaintexts.append([householdKind] + household.encoded) }
        let keys = plaintexts.map { _ in random.bytes(Sealing.keyLength) }
        let coreKey = random.bytes(Sealing.keyLength)
        let slots = slots(head, counter, coreKey: coreKey, sectionKeys: keys, by: secrets, random)

        var buffer = ByteBuffer(integer: MailboxFormat.version)
        buffer.writeCount(slots.count)
        buffer.writeCount(slots.first?.count ?? 0)
        for slot in slots { buffer.writeBytes(slot) }
        let place = Place.head(.section, of: author, counter: counter)
        buffer.writeList(Array(zip(plaintexts, keys))) { buffer, section in
            let sealed = Sealing.seal(
                section.0, section.1, at: place, nonce: random.bytes(Sealing.nonceLength))
            buffer.writeCount(sealed.count)
            buffer.writeBytes(sealed)
        }
        let before = Array(buffer.readableBytesView)
        var core = ByteBuffer()
        core.writeVarint(UInt64(max(0, head.time)))
        let fields = Array(core.readableBytesView) + laterFields
        let corePlace = Place.head(.core, of: author, counter: counter)
        return before
            + Sealing.seal(
                fields + secrets.sign(signed(corePlace, before, fields)), coreKey, at: corePlace,
                nonce: random.bytes(Sealing.nonceLength))
    }

    private static func slots(
        _ head: Head, _ counter: UInt64, coreKey: [UInt8], sectionKeys: [[UInt8]], by secrets: AuthorSecrets,
        _ random: Randomness
    ) -> [[UInt8]] {
        let household = head.household == nil ? nil : sectionKeys.count - 1
        let plaintexts = head.readers.map { reader in
            var buffer = ByteBuffer(bytes: coreKey + secrets.verificationKey)
            var sections = reader.rights.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            if reader.hasHousehold, let household { sections.append((household, .none)) }
            buffer.writeList(sections) { buffer, section in
                buffer.writeCount(section.0)
                buffer.writeInteger(UInt8(section.1.rawValue))
                buffer.writeBytes(sectionKeys[section.0])
            }
            return Array(buffer.readableBytesView)
        }
        let longest = plaintexts.map(\.count).max() ?? 0
        let place = Place.head(.slot, of: secrets.author, counter: counter)
        var slots: [[UInt8]] = []
        for (reader, plaintext) in zip(head.readers, plaintexts) {
            guard
                let key = slotKey(
                    secrets, author: secrets.author.key, reader: reader.key, other: reader.key, counter)
            else { continue }
            slots.append(
                Sealing.seal(
                    plaintext, key, at: place, asFor: longest, nonce: random.bytes(Sealing.nonceLength)))
        }
        while slots.isEmpty || !slots.count.isMultiple(of: slotMultiple) {
            slots.append(random.bytes(Sealing.sealedLength(longest)))
        }
        return random.keepsOrder ? slots : slots.shuffled()
    }

    private static func slotKey(
        _ secrets: AuthorSecrets, author: [UInt8], reader: [UInt8], other: [UInt8], _ counter: UInt64
    ) -> [UInt8]? {
        secrets.shared(with: other).map { Sealing.derive($0, "slot", author + reader + .number(counter)) }
    }

    private static func signed(_ place: Place, _ before: [UInt8], _ fields: [UInt8]) -> [UInt8] {
        .text("scorebook-peer mailbox head") + place.bytes + BLAKE2b.hash(before, length: 32) + fields
    }

    // MARK: Opening

    /// Whether an object looks like a head of this version to somebody who cannot open it. Without that, nobody can tell whose it is.
    package static func hasAllParts(_ object: [UInt8]) -> Bool { (try? HeadParts(object)) != nil }

    /// The version of a head that is of a later one than this program knows; nil otherwise. Any other first byte than that of a version
    /// to come is damaged.
    package static func laterVersion(of object: [UInt8]) -> UInt8? {
        object.first.flatMap { MailboxFormat.laterVersions.contains($0) ? $0 : nil }
    }

    /// Opens a head.
    ///
    /// - Parameters:
    ///   - key: the static key of the machine that may have written it.
    ///   - reader: this machine.
    /// - Returns: nil if that machine has written nothing in it for this one.
    /// - Throws: ``DamagedObject``, also for another version.
    package static func open(
        _ object: [UInt8], of id: AuthorID, counter: UInt64, by key: [UInt8], as reader: AuthorSecrets
    ) throws(DamagedObject) -> OpenedHead? {
        let author = Author(app: reader.author.app, key: key, id: id)
        let parts = try HeadParts(object)
        guard let slotKey = slotKey(reader, author: key, reader: reader.author.key, other: key, counter)
        else { return nil }
        let place = Place.head(.slot, of: author, counter: counter)
        guard let padded = parts.slots.lazy.compactMap({ Sealing.openIfKey($0, slotKey, at: place) }).first
        else {
            return nil
        }
        let slot = try HeadSlot(Padding.remove(from: padded), sections: parts.sections.count)
        let corePlace = Place.head(.core, of: author, counter: counter)
        let core = try Sealing.open(parts.core, slot.coreKey, at: corePlace)
        // The signature comes last, so that it covers the fields of later versions, too.
        let fields = Array(core.dropLast(Signature.length))
        guard
            Signature.isValid(
                Array(core.suffix(Signature.length)), signed(corePlace, parts.beforeCore, fields),
                by: slot.verificationKey)
        else { throw DamagedObject("its signature is not the author's") }
        return try opened(parts, slot, fields, author, counter)
    }

    private static func opened(
        _ parts: HeadParts, _ slot: HeadSlot, _ fields: [UInt8], _ author: Author, _ counter: UInt64
    ) throws(DamagedObject) -> OpenedHead {
        let place = Place.head(.section, of: author, counter: counter)
        var zones: [OpenedHead.Zone] = []
        var household: Household?
        do {
            for entry in slot.sections {
                let plaintext = try Sealing.open(parts.sections[entry.section], entry.key, at: place)
                var buffer = ByteBuffer(bytes: plaintext)
                switch try buffer.readByte() {
                case zoneKind:
                    guard entry.rights != .none else { throw DamagedObject("a zone without rights") }
                    let section = try ZoneSection(decoding: &buffer)
                    zones.append(OpenedHead.Zone(section: section, rights: entry.rights))
                case householdKind: household = try Household(decoding: &buffer)
                default: break
                }
            }
            guard Set(zones.map(\.section.zone)).count == zones.count else {
                throw DamagedObject("a zone that is there twice")
            }
            var core = ByteBuffer(bytes: fields)
            return OpenedHead(
                author: author, counter: counter, verificationKey: slot.verificationKey,
                time: Int64(try core.readVarint()), zones: zones, household: household)
        } catch let error as DamagedObject {
            throw error
        } catch {
            throw DamagedObject("\(error)")
        }
    }
}

/// The parts of a head that everybody can tell apart.
private struct HeadParts {
    let slots: [[UInt8]]
    let sections: [[UInt8]]
    let core: [UInt8]
    let beforeCore: [UInt8]

    init(_ object: [UInt8]) throws(DamagedObject) {
        var buffer = ByteBuffer(bytes: object)
        do throws(ProtocolError) {
            let version = try buffer.readByte()
            guard version == MailboxFormat.version else {
                throw .malformed("version \(version) of the format, which this program does not know")
            }
            let count = try buffer.readCount(below: MailboxLimits.slots + 1, of: "the number of slots")
            let length = try buffer.readCount(below: MailboxLimits.slot + 1, of: "the length of a slot")
            guard count * length <= buffer.readableBytes else { throw .malformed("slots that end early") }
            var slots: [[UInt8]] = []
            for _ in 0..<count { slots.append(try buffer.readFixed(length)) }
            self.slots = slots
            sections = try buffer.readList(
                limit: ProtocolLimits.maximumZones + 1, of: "the number of sections"
            ) {
                buffer throws(ProtocolError) in
                try buffer.readFixed(
                    try buffer.readCount(below: MailboxLimits.section, of: "the length of a section"))
            }
        } catch {
            throw DamagedObject("\(error)")
        }
        core = Array(buffer.readableBytesView)
        beforeCore = Array(object.dropLast(core.count))
    }
}

/// What a reader's slot tells.
private struct HeadSlot {
    let coreKey: [UInt8]
    let verificationKey: [UInt8]
    let sections: [(section: Int, rights: ZoneRights, key: [UInt8])]

    init(_ plaintext: [UInt8], sections count: Int) throws(DamagedObject) {
        var buffer = ByteBuffer(bytes: plaintext)
        do throws(ProtocolError) {
            coreKey = try buffer.readFixed(Sealing.keyLength)
            verificationKey = try buffer.readFixed(Signature.keyLength)
            sections = try buffer.readList(
                limit: ProtocolLimits.maximumZones + 1, of: "the number of sections"
            ) {
                buffer throws(ProtocolError) in
                let section = try buffer.readCount(below: count, of: "a section's number")
                guard let rights = ZoneRights(rawValue: Int64(try buffer.readByte())) else {
                    throw .malformed("rights that do not exist")
                }
                return (section, rights, try buffer.readFixed(Sealing.keyLength))
            }
        } catch {
            throw DamagedObject("\(error)")
        }
    }
}
