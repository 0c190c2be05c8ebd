#if os(Linux)
    import Testing

    /// Many strangers at once, as `scripts/strangers` lets them come, at a small size.
    @Suite(.takingTurns) struct SiegeTests {
        /// More than a listener talks to at a time, each with an address of its own; whoever is closed comes again.
        @Test func aSiegeCostsThePairedMachinesLittle() async throws {
            try await withScene { scene in
                let outcome = try await PythonPeer.siege(by: 80, scene)
                #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
                #expect(outcome.output.contains("80 strangers came"), "\(outcome.output)\(outcome.errors)")
            }
        }
    }
#endif
