import Foundation
import FuzzAllocations
import FuzzTargets
import TestSupport

/// The entry that ``testOneInput(_:_:)`` runs.
private let entry: FuzzEntry = {
    guard let entry = FuzzEntry(rawValue: environment("FUZZ_ENTRY") ?? "") else {
        complain("error: FUZZ_ENTRY must be one of \(FuzzEntry.allCases.map(\.rawValue))")
        exit(2)
    }
    // What is made once and kept does not count for the input that happens to come first.
    for mode in 0..<entry.modes { try? entry.run([UInt8(mode)] + [UInt8](repeating: 0, count: 64)) }
    return entry
}()

/// Called by libFuzzer for each input (llvm.org/docs/LibFuzzer.html, "Fuzz Target"). It has the main function, too;
/// scripts/fuzz calls it. By hand:
///
///     FUZZ_ENTRY=records fuzz -runs=1000000 CORPUS
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    // Made before anything is counted.
    let entry = entry
    do {
        allocations_begin()
        let result = Result { try entry.run(UnsafeRawBufferPointer(start: bytes, count: count)) }
        let allocated = Int(allocations_end())
        try result.get()
        if allocated > entry.memoryLimit(length: count) {
            throw BrokenInvariant(description: "\(count) bytes of input took \(allocated) bytes of memory")
        }
    } catch {
        // libFuzzer takes the signal, and keeps the input.
        complain("broken: \(error)")
        abort()
    }
    return 0
}
