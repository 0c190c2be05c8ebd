import PeerSyncModel
import Testing

/// Each key has one suffix, and each suffix at most one key.
struct KeyEncodingTests {
    private static let keys: [([FieldValue], [KeyEncoding.Kind], String)] = [
        ([.text("milk")], [.text], "milk"),
        ([.text(" ~")], [.text], " ~"),
        ([.text("50 %, Käse")], [.text], "50 %25%2C K%C3%A4se"),
        ([.text("a\u{0}\n")], [.text], "a%00%0A"),
        ([.integer(0)], [.integer], "0"),
        ([.integer(.min)], [.integer], "-9223372036854775808"),
        ([.blob([0xAB])], [.blob], "ab"),
        ([.blob(Array(0..<16))], [.blob], "00010203-0405-0607-0809-0a0b0c0d0e0f"),
        ([.blob(Array(0..<17))], [.blob], "000102030405060708090a0b0c0d0e0f10"),
        ([.text("a,b"), .integer(-1), .blob([0])], [.text, .integer, .blob], "a%2Cb,-1,00"),
    ]

    @Test(arguments: keys)
    func aKeyAndItsSuffixLeadToEachOther(
        values: [FieldValue], kinds: [KeyEncoding.Kind], suffix: String
    ) {
        #expect(KeyEncoding.suffix(of: values) == suffix)
        #expect(KeyEncoding.values(of: suffix, kinds: kinds) == values)
    }

    @Test(arguments: [
        [FieldValue.text("")], [.blob([])], [.null], [.real(1)], [], [.text("a"), .null],
    ])
    func someKeysHaveNoSuffix(values: [FieldValue]) {
        #expect(KeyEncoding.suffix(of: values) == nil)
    }

    /// Further ones are in keys.json.
    @Test(arguments: [("", [KeyEncoding.Kind.text]), ("", [.blob]), ("a", [])])
    func otherSuffixesAreOfNoKey(suffix: String, kinds: [KeyEncoding.Kind]) {
        #expect(KeyEncoding.values(of: suffix, kinds: kinds) == nil)
    }
}
