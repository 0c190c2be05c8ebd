import PeerSync
import Testing

@testable import ScorebookWeb

/// The words of the page for what machines do not get.
struct MachineWordsTests {
    @Test(arguments: [
        (UnsyncedRecord.Reason.name, true), (UnsyncedRecord.Reason.size, true),
        (UnsyncedRecord.Reason.file, false), (UnsyncedRecord.Reason.text, false),
    ])
    func onlyWhatOthersDoNotGetStaysHere(reason: UnsyncedRecord.Reason, staysHere: Bool) {
        let fate = MachineWords.fate(reason)
        #expect(fate.contains("stays here") == staysHere)
        // Not the word that programs know it by.
        #expect(!fate.hasSuffix(" \(reason)"))
    }
}
