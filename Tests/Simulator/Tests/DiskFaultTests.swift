import DiskSimulator
import Testing

/// After a fault of the disk the store opens, is whole, and comes to the same as others. `scripts/simulate --disks` tries every call.
@Suite(.timeLimit(.minutes(30))) struct DiskFaultTests {
    /// So many calls are tried of each work, from the first to the last.
    private static let tried = 5

    @Test(arguments: DiskTrial.Work.allCases, DiskFault.allCases)
    func aFaultOfTheDiskLosesNothing(_ work: DiskTrial.Work, _ fault: DiskFault) async throws {
        let calls = try await DiskTrial.calls(of: work)
        for index in 0..<Self.tried {
            let call = 1 + index * (calls - 1) / (Self.tried - 1)
            try await DiskTrial.run(work, fault, at: call, seed: UInt32(index))
        }
    }
}
