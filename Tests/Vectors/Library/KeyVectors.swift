import PeerSyncModel

extension VectorFile {
    /// Keys of tables, and the suffixes of record names that they become.
    static var keys: VectorFile {
        VectorFile(
            "keys.json",
            "Keys of tables, and the suffixes of record names that they become. No row has the names under “noKey”.",
            section: "6.1",
            [
                (
                    "keys",
                    .array(
                        sampleKeys.map { values in
                            [
                                "values": .array(values.map(JSON.value)),
                                "suffix": .string(KeyEncoding.suffix(of: values) ?? ""),
                            ]
                        })
                ),
                (
                    "noSuffix",
                    .array(
                        ([[.text("")], [.blob([])], [.null], [.real(1)], [.text("a"), .null]]
                            as [[FieldValue]]).map {
                                .array($0.map(JSON.value))
                            })
                ),
                (
                    "noKey",
                    .array(
                        strangeSuffixes.map { kinds, suffix in
                            [
                                "kinds": .array(kinds.map { .string("\($0)") }), "suffix": .string(suffix),
                            ]
                        })
                ),
            ])
    }

    package static var sampleKeys: [[FieldValue]] {
        [
            [.text("milk")], [.text(" ~")], [.text("50 %, Käse")], [.text("a\u{0}\n")], [.text("\u{1F3B2}")],
            [.integer(0)], [.integer(-13)], [.integer(.max)], [.integer(.min)],
            [.blob([0xAB])], [.blob(Array(0..<16))], [.blob(Array(0..<17))],
            [.text("milk"), .text("cold")], [.text("a,b"), .integer(-1), .blob([0])],
        ]
    }

    /// Suffixes that are those of no key whose columns are of these kinds.
    package static var strangeSuffixes: [([KeyEncoding.Kind], String)] {
        [
            ([.text], "a,b"), ([.text, .text], "a"), ([.text, .text], "a,"), ([.text], "%"), ([.text], "%4"),
            ([.text], "%41"), ([.text], "%c3%a4"), ([.text], "%FF"), ([.integer], "+1"), ([.integer], "01"),
            ([.integer], "-0"), ([.integer], "9223372036854775808"), ([.integer], "1.0"), ([.integer], "a"),
            ([.blob], "AB"), ([.blob], "abc"), ([.blob], "000102030405060708090a0b0c0d0e0f"),
            ([.blob], "00010203-0405-0607-0809-0A0B0C0D0E0F"),
        ]
    }
}
