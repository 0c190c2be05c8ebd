import PeerSyncModel

extension VectorFile {
    /// The smallest parts of messages.
    static var primitives: VectorFile {
        let varints: [UInt64] = [
            0, 1, 37, 63, 64, 15_293, 16_383, 16_384, 494_878_333, (1 << 30) - 1, 1 << 30,
            151_288_809_941_952_652, (1 << 62) - 1,
        ]
        return VectorFile(
            "primitives.json",
            "Numbers in their shortest form, which a writer uses, and longer forms, which a reader takes as well.",
            section: "1",
            [
                (
                    "varints",
                    .array(varints.map { ["value": .decimal($0), "bytes": .hex(encoded($0))] })
                ),
                (
                    "longerVarints",
                    [
                        ["value": "37", "bytes": "4025"], ["value": "0", "bytes": "80000000"],
                        ["value": "15293", "bytes": "c000000000003bbd"],
                    ]
                ),
                (
                    "replicaIDs",
                    .array(
                        [
                            (
                                "a machine's static key", VectorKeys.listener.publicKey.bytes
                            ), ("the name of an import's source", Array("bgstats".utf8)),
                        ].map { what, bytes in
                            [
                                "of": .string(what), "bytes": .hex(bytes),
                                "replica": .digits(ReplicaID(hashing: bytes).rawValue),
                            ]
                        })
                ),
            ])
    }

    private static func encoded(_ value: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        VariableLengthInteger.append(value, to: &bytes)
        return bytes
    }

    /// Every kind of value, with its bounds.
    static var values: VectorFile {
        VectorFile(
            "values.json",
            "Values in the canonical encoding, which is hashed and compared. On the wire only references differ; "
                + "messages.json has them. No two of these values are equal.",
            section: "6.3",
            [
                (
                    "values",
                    .array(sampleValues.map { ["value": .value($0), "canonical": .hex($0.canonicalBytes)] })
                )
            ])
    }

    package static var sampleValues: [FieldValue] {
        let integers: [Int64] = [
            0, 1, -1, 127, 128, -128, -129, 255, 256, 32_767, 32_768, -32_768, 8_388_607, 8_388_608, 1 << 31,
            -(1 << 31), (1 << 39) - 1, 1 << 47, -(1 << 55), .max, .min,
        ]
        let dates: [Int64] = [
            0, -1, 1_448_445_600_000, 1_448_445_600_250, ISO8601.writable.lowerBound,
            ISO8601.writable.upperBound,
        ]
        let reals: [Double] = [
            0, -0.0, 1, -1, 7.5, 0.1, .infinity, -.infinity, .greatestFiniteMagnitude,
            .leastNonzeroMagnitude,
        ]
        let texts = [
            "", "Catan", "a\u{0}b", "\u{E9}", "e\u{301}", "\u{1F3B2}", String(repeating: "x", count: 63),
            String(repeating: "x", count: 64),
        ]
        let assets = [
            Samples.asset(), Samples.asset(0, size: 0, mediaType: "a/b", name: ""),
            Samples.asset(
                0xFF, size: Asset.maximumSize, mediaType: "application/vnd.api+json",
                name: "Sommer \"24\".pdf"),
        ]
        return [.null] + integers.map(FieldValue.integer) + reals.map(FieldValue.real)
            + texts.map(FieldValue.text) + [.blob([]), .blob([0]), .blob(Array(0...255))]
            + dates.map(FieldValue.date)
            + [
                .reference(Samples.game.name), .reference(Samples.match.name),
                .reference(Samples.name("A|~|b")),
            ] + assets.map(FieldValue.asset)
    }
}
