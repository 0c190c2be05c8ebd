import Foundation
import FuzzTargets

/// The entry that ``testOneInput(_:_:)`` runs.
private let entry: FuzzEntry = {
    guard let entry = FuzzEntry(rawValue: environment("FUZZ_ENTRY") ?? "") else {
        complain("error: FUZZ_ENTRY must be one of \(FuzzEntry.allCases.map(\.rawValue))")
        exit(2)
    }
    return entry
}()

/// Called by libFuzzer for each input (llvm.org/docs/LibFuzzer.html, "Fuzz Target"). It has the main function, too;
/// scripts/fuzz calls it. By hand:
///
///     FUZZ_ENTRY=records fuzz -runs=1000000 CORPUS
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    do {
        try entry.run(UnsafeRawBufferPointer(start: bytes, count: count))
    } catch {
        // libFuzzer takes the signal, and keeps the input.
        complain("broken: \(error)")
        abort()
    }
    return 0
}
