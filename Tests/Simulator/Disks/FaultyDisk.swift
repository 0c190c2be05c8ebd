import CFaultyDisk
import Foundation
import TestSupport

/// A disk, in a directory, that fails where a trial wants it.
package final class FaultyDisk: Sendable {
    let directory: URL
    private let number: Int32

    /// - Parameter directory: a directory that is there.
    package init(at directory: URL) throws {
        faulty_disk_install()
        self.directory = directory
        // SQLite names files without links in their paths.
        let real = realpath(directory.path, nil)
        defer { free(real) }
        number = faulty_disk_add((real.map { String(cString: $0) } ?? directory.path) + "/")
        try expect(number >= 0, "too many disks at once")
    }

    deinit { faulty_disk_remove(number) }

    /// How many calls there were since the last plan.
    var calls: Int { faulty_disk_calls(number) }

    /// Begins to count anew.
    ///
    /// - Parameters:
    ///   - fault: what fails; nil for nothing.
    ///   - call: the number of the call that fails, or with which everything begins to fail. The first is 1.
    package func plan(_ fault: DiskFault?, at call: Int = 0) {
        let fault: faulty_disk_fault =
            switch fault {
            case nil: FAULTY_DISK_NONE
            case .error: FAULTY_DISK_ERROR
            case .full: FAULTY_DISK_FULL
            case .powerCut: FAULTY_DISK_CUT
            }
        faulty_disk_plan(number, fault, call)
    }

    /// Leaves what the disk holds after a cut of its power. Nothing may have it open.
    ///
    /// - Parameter seed: 0 loses every write that was not synced; others keep some, in whole or in half.
    package func settle(seed: UInt32) throws {
        faulty_disk_settle(number, seed)
        // What processes shared in memory is gone.
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path)
        where name.hasSuffix("-shm") {
            try FileManager.default.removeItem(at: directory.appendingPathComponent(name))
        }
    }
}

/// What a disk may do.
package enum DiskFault: String, CaseIterable, Sendable {
    /// One call fails.
    case error
    /// From one call on no file can grow.
    case full
    /// From one call on everything fails, and what was not synced is lost or torn.
    case powerCut
}
