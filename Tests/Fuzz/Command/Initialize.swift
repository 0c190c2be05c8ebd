import Foundation
import FuzzTargets

/// Called by libFuzzer before anything else. With `FUZZ_SEEDS=FOLDER` it writes the seeds of the entry there,
/// prints how long an input may be, and ends.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(_ argumentCount: UnsafeRawPointer, _ arguments: UnsafeRawPointer) -> Int32 {
    guard let folder = environment("FUZZ_SEEDS") else { return 0 }
    do {
        guard let entry = FuzzEntry(rawValue: environment("FUZZ_ENTRY") ?? "") else { exit(2) }
        try FuzzSeeds.write(entry, to: folder)
        print(entry.maximumLength)
    } catch {
        complain("error: \(error)")
        exit(1)
    }
    exit(0)
}

func environment(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

func complain(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
