import NIOCore
import PeerSyncModel

extension Message.HouseholdSet {
    func encode(into body: inout ByteBuffer) {
        body.writeBytes(set.encoded)
        body.writeCount(port)
        body.writeList(addresses) { body, entry in
            body.writeBytes(entry.key)
            body.writeText(entry.address)
        }
    }

    init(decoding body: inout ByteBuffer) throws(ProtocolError) {
        self.init(
            set: try Household(decoding: &body), port: try body.readCount(below: 65_536, of: "a port"),
            addresses: try body.readList(
                limit: ProtocolLimits.maximumAddresses, of: "the number of addresses"
            ) { body throws(ProtocolError) in
                Address(
                    key: try body.readFixed(Introduction.keyLength),
                    address: try body.readText(limit: ProtocolLimits.maximumAddress, of: "an address"))
            })
    }
}

extension Household {
    /// Reads the canonical encoding.
    package init(decoding body: inout ByteBuffer) throws(ProtocolError) {
        let entries = try body.readList(limit: Household.maximumCount, of: "the number of introductions") {
            body throws(ProtocolError) in try HouseholdEntry(decoding: &body)
        }
        guard zip(entries, entries.dropFirst()).allSatisfy({ $0.id < $1.id }) else {
            throw .malformed("a household out of order")
        }
        self.init(entries)
    }
}

extension HouseholdEntry {
    fileprivate init(decoding body: inout ByteBuffer) throws(ProtocolError) {
        let introduction = try Introduction(decoding: &body)
        guard try body.readFlag() else {
            self.init(introduction)
            return
        }
        let remover = try body.readFixed(Introduction.keyLength)
        guard let removal = Removal(by: remover, time: Int64(try body.readVarint())) else {
            throw .malformed("a removal that is none")
        }
        self.init(introduction, removal: removal)
    }
}

extension Introduction {
    fileprivate init(decoding body: inout ByteBuffer) throws(ProtocolError) {
        let nonce = try body.readFixed(Introduction.nonceLength)
        let key = try body.readFixed(Introduction.keyLength)
        let name = try body.readText(limit: Introduction.maximumName, of: "a name")
        guard let rights = Rights(rawValue: try body.readByte()) else {
            throw .malformed("rights that do not exist")
        }
        let introducer = try body.readFixed(Introduction.keyLength)
        guard
            let introduction = Introduction(
                nonce: nonce, key: key, name: name, rights: rights, introducer: introducer,
                time: Int64(try body.readVarint()))
        else { throw .malformed("an introduction that is none") }
        self = introduction
    }
}
