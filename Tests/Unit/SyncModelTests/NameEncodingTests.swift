import PeerSyncModel
import Testing

/// Each name of a table or a column has one identifier, and each identifier at most one name.
struct NameEncodingTests {
    private static let names = [
        ("order", "order"), ("_", "_"), ("_id", "_id"), ("a_0b", "a_0b"),
        ("Order lines", "_0Order_20_lines"), ("1st", "_01st"), ("größe", "_0gr_F6__DF_e"), ("🧀", "_0_1F9C0_"),
        ("a_b c", "_0a__b_20_c"), ("_0", "_0__0"), ("_0Order_20_lines", "_0__0Order__20__lines"), ("", "_0"),
        ("a|~|b", "_0a_7C__7E__7C_b"), ("\n\"", "_0_A__22_"), ("e\u{301}", "_0e_301_"), ("é", "_0_E9_"),
    ]

    @Test(arguments: names)
    func aNameAndItsIdentifierLeadToEachOther(name: String, identifier: String) {
        #expect(NameEncoding.identifier(of: name) == identifier)
        #expect(NameEncoding.name(of: identifier).unicodeScalars.elementsEqual(name.unicodeScalars))
        #expect(RecordName.isIdentifier(identifier.utf8))
    }

    @Test(arguments: ["_0order", "_0_", "_0_20", "_0_020_x", "_0_D800_", "_0_6f_", "_0_G_", "_0_+20_"])
    func anIdentifierThatNoNameHasStandsForItself(identifier: String) {
        #expect(NameEncoding.name(of: identifier) == identifier)
    }
}
