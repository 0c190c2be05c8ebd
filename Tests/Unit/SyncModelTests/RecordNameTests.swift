import PeerSyncModel
import Testing

/// Record names are checked, and read from text.
struct RecordNameTests {
    @Test(arguments: [
        "SBGame|~|x", "A|~|b", "_t1|~||~|", "SBGame|~|" + String(repeating: "x", count: 246), "A||~|~",
    ])
    func namesWithATypeAndASuffixAreTaken(text: String) throws {
        if text == "A||~|~" {
            #expect(throws: RecordNameError.noType(text)) { try RecordName(text) }
        } else {
            let name = try RecordName(text)
            #expect(name.recordType + "|~|" + name.suffix == text)
        }
    }

    @Test(arguments: [
        ("", RecordNameError.empty), ("SBGame", .noType("SBGame")), ("|~|x", .noType("|~|x")),
        ("SBGame|~|", .noSuffix("SBGame|~|")), ("SB Game|~|x", .noType("SB Game|~|x")),
        ("1a|~|x", .noType("1a|~|x")), ("SBGame|~|é", .notPrintableASCII),
        ("SBGame|~|a\n", .notPrintableASCII),
        ("SBGame|~|" + String(repeating: "x", count: 247), .tooLong(256)),
    ])
    func everythingElseIsRefusedWithTheReason(text: String, error: RecordNameError) {
        #expect(throws: error) { try RecordName(text) }
    }
}
