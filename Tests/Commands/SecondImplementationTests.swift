import Testing

/// This program and a peer in Python that was written from Protocol/ alone: they agree on every vector, and with each
/// other.
@Suite(.takingTurns) struct SecondImplementationTests {
    /// As Tests/PythonPeer/scenarios.py has them; each plays both programs, as callers and as listeners.
    private static let scenarios = [
        "mailbox_both_ways", "mailbox_reads_whole_logs", "mailbox_deletions", "mailbox_pictures",
        "mailbox_leaving_out", "mailbox_removed_machine", "mailbox_truncated_objects",
        "mailbox_damaged_objects", "mailbox_lost_segments", "mailbox_whole_logs_follow_each_other",
        "mailbox_that_went_back", "mailbox_restored_stores", "mailbox_beside_sessions",
        "mailbox_refused_records", "mailbox_after_a_comparison", "mailbox_of_two_ids",
        "mailbox_after_a_union", "mailbox_restored_twice_in_a_year", "mailbox_emptied",
        "mailbox_random_edits", "pairing_wrong_code", "pairing_again", "first_sync_python_calls",
        "first_sync_reference_calls", "python_passes_on", "writes_of_python", "writes_of_reference",
        "cascade_of_a_deletion", "restoring_and_erasing", "conflicts", "revival_of_a_parent",
        "reconciliation_python_calls", "reconciliation_reference_calls", "different_scorebooks",
        "verify_by_reference", "resumption", "live_python_listens", "live_reference_listens", "two_pythons",
        "clock_skew", "asset_of_reference", "asset_of_python", "asset_missing_then_there",
        "asset_that_is_too_short", "asset_from_two_sides", "another_zone", "zone_of_python",
        "python_may_only_read", "reference_may_only_read", "odd_values", "many_batches", "cut_copies",
        "restored_reference", "restored_python", "beside", "no_room_beside", "names_in_another_zone",
        "record_too_large", "reset_of_the_reference", "reset_of_python", "a_chain", "both_call",
        "ends_of_a_session", "hollow_records", "unions_of_python", "starting_over_of_python",
        "introductions_reach_a_third_machine", "removals_reach_a_third_machine", "random_edits",
    ]

    @Test func theVectorsAreRightFromTheOtherSide() async throws {
        try await withScene { scene in
            let outcome = try await PythonPeer.checkVectors(scene)
            #expect(outcome.exitCode == 0)
            let count = try PythonPeer.vectorFiles().count
            #expect(
                outcome.output.hasSuffix("\n\(count) passed, 0 failed\n"),
                "\(outcome.output)\(outcome.errors)")
        }
    }

    @Test func everyScenarioIsPlayed() async throws {
        try await withScene { scene in
            let names = try await PythonPeer.scenarios(scene)
            #expect(names == Self.scenarios)
        }
    }

    @Test(arguments: scenarios) func thePeersUnderstandEachOther(in scenario: String) async throws {
        try await withScene { scene in
            let outcome = try await PythonPeer.play(scenario, scene)
            #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
        }
    }
}
