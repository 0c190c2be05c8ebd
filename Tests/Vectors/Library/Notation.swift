import NIOCore
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol

// How the files of vectors write the protocol's values. Protocol/README.md, “Notation”, explains it to readers.

extension JSON {
    /// Bytes in hexadecimal.
    static func hex(_ bytes: some Sequence<UInt8>) -> JSON { .string(bytes.hexadecimal) }

    static func hex(_ buffer: ByteBuffer) -> JSON { .hex(buffer.readableBytesView) }

    /// Bytes in hexadecimal; very long ones in parts, each with its count.
    static func parts(_ buffer: ByteBuffer) -> JSON {
        guard buffer.readableBytes > longestBytes else { return .hex(buffer) }
        let bytes = Array(buffer.readableBytesView)
        var parts: [JSON] = []
        var begin = 0
        func add(_ range: Range<Int>, times: Int = 1) {
            guard !range.isEmpty else { return }
            parts.append(["bytes": .hex(bytes[range]), "times": .number(times)])
        }
        var start = 0
        while start < bytes.count {
            var end = start
            while end < bytes.count, bytes[end] == bytes[start] { end += 1 }
            if end - start > longest {
                add(begin..<start)
                add(start..<start + 1, times: end - start)
                begin = end
            }
            start = end
        }
        add(begin..<bytes.count)
        return .array(parts)
    }

    static func secret(_ pair: KeyPair) -> JSON { pair.secretKey.withUnsafeBytes { .hex($0) } }

    /// 64 bits in 16 hexadecimal digits.
    static func digits(_ value: UInt64) -> JSON {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: value)
        return .hex(bytes)
    }

    /// A whole number that may be too large for some JSON readers to keep exactly.
    static func decimal(_ value: some BinaryInteger) -> JSON { .string("\(value)") }

    static func optional<Value>(_ value: Value?, _ describe: (Value) -> JSON) -> JSON {
        value.map(describe) ?? .null
    }

    static func object(_ members: [(String, JSON)]) -> JSON {
        .object(members.map { Member(key: $0.0, value: $0.1) })
    }

    // MARK: Records

    static func value(_ value: FieldValue) -> JSON {
        switch value {
        case .null: .null
        case .integer(let integer): ["integer": .decimal(integer)]
        case .real(let real): ["real": .digits(real.bitPattern)]
        case .text(let text): ["text": .text(text)]
        case .blob(let bytes): ["blob": .hex(bytes)]
        case .date(let milliseconds): ["date": .decimal(milliseconds)]
        case .reference(let name): ["reference": .string(name.description)]
        case .asset(let asset):
            [
                "asset": [
                    "hash": .hex(asset.hash.bytes), "size": .decimal(asset.size),
                    "mediaType": .string(asset.mediaType), "name": .string(asset.name),
                ]
            ]
        }
    }

    /// A text, or the way to make a very long one.
    private static func text(_ text: String) -> JSON {
        let count = text.utf8.count
        guard count > longest, let first = text.utf8.first, first < 0x80,
            text == String(decoding: [UInt8](repeating: first, count: count), as: UTF8.self)
        else { return .string(text) }
        return ["repeated": .string(String(text.prefix(1))), "times": .number(count)]
    }

    /// The lengths beyond which the files say how to make a text, or a run of one byte.
    private static let longest = 1000
    private static let longestBytes = 65_536
    /// This many fields in a row become one entry if their names differ only in the numbers at the end.
    private static let manyFields = 16
    private static let numberLength = 4

    private static func fields(_ fields: [RecordField]) -> [JSON] {
        var output: [JSON] = []
        var rest = fields[...]
        while let first = rest.first {
            let prefix = String(first.name.dropLast(numberLength))
            let times = zip(rest, 1...).prefix { field, number in
                let digits = "\(number)"
                let name = prefix + String(repeating: "0", count: numberLength - digits.count) + digits
                return field.name == name && field.value == first.value && field.stamp == first.stamp
            }.count
            let isMany = times >= manyFields
            let count: [(String, JSON)] = isMany ? [("times", .number(times))] : []
            output.append(
                .object(
                    [("name", .string(isMany ? prefix : first.name))] + count + [
                        ("value", .value(first.value)), ("stamp", .stamp(first.stamp)),
                    ]))
            rest = rest.dropFirst(isMany ? times : 1)
        }
        return output
    }

    static func stamp(_ stamp: Stamp) -> JSON {
        ["time": .digits(stamp.time.rawValue), "replica": .digits(stamp.replica.rawValue)]
    }

    static func state(_ state: RecordState) -> JSON {
        .object(
            [
                ("name", .string(state.name.description)),
                ("fields", .array(fields(state.fields))),
                ("deletion", .optional(state.deletion, JSON.stamp)),
                ("revival", .optional(state.revival, JSON.stamp)),
            ] + (state.erasure.map { [("erasure", .stamp($0))] } ?? []))
    }

    static func token(_ token: ChangeToken) -> JSON {
        [
            "generation": .hex(token.generation), "sequence": .decimal(token.sequence),
            "horizon": .decimal(token.horizon),
        ]
    }

    static func batch(_ batch: ChangeBatch) -> [(String, JSON)] {
        [
            ("token", .token(batch.token)), ("last", .bool(batch.isLast)), ("loose", .bool(batch.isLoose)),
            ("records", .array(batch.records.map(JSON.state))),
        ]
    }

    static func zone(_ id: ZoneID) -> [(String, JSON)] {
        [("name", .string(id.name.description)), ("owner", .digits(id.owner.rawValue))]
    }

    // MARK: Messages

    /// A message without its type.
    static func content(_ message: Message) -> (type: String, members: [(String, JSON)]) {
        switch message {
        case .hello(let hello): ("hello", describe(hello))
        case .pairingShare(let share): ("pairingShare", [("share", .hex(share))])
        case .pairingTag(let tag):
            ("pairingTag", [("tag", .hex(tag.tag)), ("displayName", .string(tag.displayName))])
        case .open(let open):
            (
                "open",
                [
                    ("union", .number(Int(open.union.rawValue))),
                    (
                        "zones",
                        .array(
                            open.zones.map {
                                .object(zone($0.id) + [("received", .optional($0.received, JSON.token))])
                            })
                    ),
                ]
            )
        case .begin(let begin):
            (
                "begin",
                [
                    ("zone", .number(begin.zone)), ("void", .bool(begin.isHeldTokenVoid)),
                    ("wholeCopy", .bool(begin.isWholeCopy)), ("recordCount", .decimal(begin.recordCount)),
                ]
            )
        case .batch(let zone, let batch): ("batch", [("zone", .number(zone))] + JSON.batch(batch))
        case .acknowledge(let zone, let token):
            ("acknowledge", [("zone", .number(zone)), ("token", .token(token))])
        case .refuse(let refuse):
            (
                "refuse",
                [
                    ("zone", .number(refuse.zone)), ("reason", .number(refuse.reason)),
                    ("names", .array(refuse.names.map { .string($0.description) })),
                ]
            )
        case .digest(let zone, let summary): ("digest", [("zone", .number(zone))] + describe(summary))
        case .resync(let zone, let round):
            ("resync", [("zone", .number(zone)), ("round", .number(round))])
        case .reconcile(let step):
            (
                "reconcile",
                [
                    ("zone", .number(step.zone)), ("end", .bool(step.isEnd)),
                    ("wanted", .array(step.wanted.map { .hex($0.bytes) })), ("payload", .hex(step.payload)),
                ]
            )
        case .assetRequest(let request):
            (
                "assetRequest",
                [
                    ("hash", .hex(request.hash.bytes)), ("offset", .decimal(request.offset)),
                    ("length", .decimal(request.length)),
                ]
            )
        case .assetChunk(let chunk):
            (
                "assetChunk",
                [
                    ("hash", .hex(chunk.hash.bytes)), ("offset", .decimal(chunk.offset)),
                    ("bytes", .hex(chunk.bytes)),
                ]
            )
        case .assetMissing(let hash): ("assetMissing", [("hash", .hex(hash.bytes))])
        case .assetsAvailable(let hashes):
            ("assetsAvailable", [("hashes", .array(hashes.map { .hex($0.bytes) }))])
        case .assetsWanted(let wanted):
            ("assetsWanted", [("files", .decimal(wanted.files)), ("bytes", .decimal(wanted.bytes))])
        case .household(let digest): ("household", [("digest", .hex(digest))])
        case .householdSet(let told): ("householdSet", describe(told))
        case .ping(let bytes): ("ping", [("bytes", .hex(bytes))])
        case .pong(let bytes): ("pong", [("bytes", .hex(bytes))])
        case .error(let error):
            ("error", [("code", .decimal(error.code.rawValue)), ("sentence", .string(error.message))])
        case .goodbye: ("goodbye", [])
        case .unknown(let type): ("unknown", [("number", .decimal(type))])
        }
    }

    static func message(_ message: Message) -> JSON {
        let (type, members) = content(message)
        return .object([("type", .string(type))] + members)
    }

    private static func describe(_ hello: Message.Hello) -> [(String, JSON)] {
        [
            ("minorVersion", .decimal(hello.minorVersion)), ("replica", .digits(hello.replica.rawValue)),
            ("instance", .digits(hello.instance)), ("displayName", .string(hello.displayName)),
            ("clock", .decimal(hello.clock)), ("zones", .array(hello.zones.map(offer))),
        ]
    }

    static func offer(_ offer: ZoneOffer) -> JSON {
        .object(
            zone(offer.id) + [
                ("calledHere", .string(offer.name)), ("default", .bool(offer.isDefault)),
                ("shared", .bool(offer.isShared)),
                ("rights", .string(offer.rights == .write ? "write" : "read")),
                ("recordCount", .decimal(offer.recordCount)), ("fingerprint", .hex(offer.fingerprint)),
            ])
    }

    private static func describe(_ told: Message.HouseholdSet) -> [(String, JSON)] {
        let addresses: [JSON] = told.addresses.map { ["key": .hex($0.key), "address": .string($0.address)] }
        return [
            ("entries", .array(told.set.entries.map(entry))), ("port", .number(told.port)),
            ("addresses", .array(addresses)),
        ]
    }

    static func entry(_ entry: HouseholdEntry) -> JSON {
        let introduction = entry.introduction
        let removal: JSON = .optional(entry.removal) {
            ["remover": .hex($0.remover), "time": .decimal($0.time)]
        }
        return [
            "nonce": .hex(introduction.nonce), "key": .hex(introduction.key),
            "name": .string(introduction.name),
            "rights": .string(introduction.rights == .all ? "all" : "read"),
            "introducer": .hex(introduction.introducer), "time": .decimal(introduction.time),
            "removal": removal,
        ]
    }

    private static func describe(_ summary: ZoneSummary) -> [(String, JSON)] {
        [
            ("current", .token(summary.current)), ("received", .optional(summary.received, JSON.token)),
            ("recordCount", .decimal(summary.digest.count)), ("sum", .hex(summary.digest.sumBytes)),
            ("refused", .number(summary.refused)),
        ]
    }
}
