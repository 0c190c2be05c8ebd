import PeerSyncModel

/// Makes records of a few names, stamps and values, so that ties are frequent.
enum FuzzRecords {
    static let names: [RecordName] = [
        "SBGame|~|0192f0c1-7a51-7cc2-9a5e-6d1b7a52e1b4", "SBGame|~|0192F0C1-7A51-7CC2-9A5E-6D1B7A52E1B4",
        "SBGame|~|a", "SBGame|~|b", "T|~|~|~|", "SBMatch|~|c", "SBMatch|~|d", "_|~| ",
    ].map { try! RecordName($0) }

    static let hashes: [AssetHash] = (0..<8).map { AssetHash([UInt8](repeating: $0, count: 32))! }

    private static let fieldNames = ["A", "a", "b", "name", "name2", "z"]
    private static let replicas: [UInt64] = [0, 1, 2, .max]
    private static let times: [UInt64] = [0, 1, 65_535, 65_536, 1_700_000_000_000 << 16, .max - 1, .max]

    static func stamp(_ input: inout FuzzInput) -> Stamp {
        let byte = Int(input.byte())
        return Stamp(
            time: HybridTime(rawValue: times[byte / 4 % times.count]),
            replica: ReplicaID(rawValue: replicas[byte % 4]))
    }

    static func value(_ input: inout FuzzInput) -> FieldValue {
        switch input.number(below: 12) {
        case 0: .null
        case 1: .integer(Int64(Int8(bitPattern: input.byte())))
        case 2: .integer(Int64(bitPattern: input.uint64()))
        case 3: .real(real(input.uint64()))
        case 4: .text(String(decoding: input.take(input.number(below: 32)), as: UTF8.self))
        // Equal as Unicode has it, and different.
        case 5: .text(input.pick(["\u{E9}", "e\u{301}", "", "a"]))
        case 6: .blob(input.take(input.number(below: 32)))
        case 7: .date(date(input.uint64()))
        case 8: .reference(input.pick(names))
        case 9: asset(&input)
        case 10: .real(input.pick([0, -0.0, 1, .infinity, -.infinity]))
        default: .integer(input.pick([0, 127, 128, -128, -129, .max, .min]))
        }
    }

    private static func real(_ bits: UInt64) -> Double {
        let value = Double(bitPattern: bits)
        return value.isNaN ? 0 : value
    }

    private static func date(_ bits: UInt64) -> Int64 {
        let bounds = ISO8601.writable
        return bounds.lowerBound + Int64(bits % UInt64(bounds.upperBound - bounds.lowerBound + 1))
    }

    private static func asset(_ input: inout FuzzInput) -> FieldValue {
        let hash = input.pick(hashes)
        let size = Int64(input.uint64() % UInt64(Asset.maximumSize + 1))
        let name = Asset.name(from: String(decoding: input.take(input.number(below: 32)), as: UTF8.self))
        return Asset(hash: hash, size: size, mediaType: "image/png", name: name).map { .asset($0) } ?? .null
    }

    static func state(_ input: inout FuzzInput, name: RecordName) -> RecordState {
        let flags = input.byte()
        var fields: [RecordField] = []
        for (index, field) in fieldNames.enumerated() where flags >> index & 1 == 1 {
            fields.append(RecordField(name: field, value: value(&input), stamp: stamp(&input)))
        }
        let deletion = flags & 64 != 0 ? stamp(&input) : nil
        let revival = flags & 128 != 0 ? stamp(&input) : nil
        // An erasure that is greater than the deletion raises it.
        let erasure = deletion != nil && input.number(below: 3) == 0 ? stamp(&input) : nil
        return RecordState(name: name, fields: fields, deletion: deletion, revival: revival, erasure: erasure)
    }

    static func token(_ input: inout FuzzInput) -> ChangeToken {
        let generation = [UInt8](repeating: input.byte(), count: input.number(below: 33))
        return ChangeToken(
            generation: generation, sequence: Int64(input.uint64() >> 2), horizon: Int64(input.uint64() >> 2))
    }
}
