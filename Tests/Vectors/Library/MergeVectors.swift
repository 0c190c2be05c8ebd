import PeerSyncModel

extension VectorFile {
    /// States of one record, and the state that they merge to.
    static var merge: VectorFile {
        VectorFile(
            "merge.json",
            "States of one record, and the state that they merge to, in whatever order and however often each is merged. "
                + "`is` says what the result is: live, deleted or hollow; `travels` is the form in which it is sent, "
                + "where that is another.",
            section: "6.4, 9.1",
            [("cases", .array(mergeCases.map(describe)))])
    }

    private static func describe(_ why: String, _ states: [RecordState]) -> JSON {
        var result = states[0]
        for state in states.dropFirst() { result.merge(state) }
        let status = result.isDeleted ? "deleted" : result.isLive ? "live" : "hollow"
        var members: [(String, JSON)] = [
            ("why", .string(why)), ("states", .array(states.map(JSON.state))), ("result", .state(result)),
            ("is", .string(status)),
        ]
        if result.transferred != result { members.append(("travels", .state(result.transferred))) }
        return .object(members)
    }

    private static func note(
        _ fields: [(String, FieldValue, Stamp)] = [], deletion: Stamp? = nil, revival: Stamp? = nil,
        erasure: Stamp? = nil
    ) -> RecordState {
        Samples.state("Note|~|1", fields, deletion: deletion, revival: revival, erasure: erasure)
    }

    /// A note of one field.
    private static func x(_ value: FieldValue, _ stamp: Stamp) -> RecordState { note([("x", value, stamp)]) }

    package static var mergeCases: [(String, [RecordState])] {
        let early = Samples.stamp(0)
        let late = Samples.stamp(1000)
        let latest = Samples.stamp(2000)
        let counted = Samples.stamp(0, counter: 1)
        let other = Samples.stamp(0, counter: 0, Samples.attic)
        return [
            ("the same state twice", [x(.integer(1), early), x(.integer(1), early)]),
            ("the later write of a field", [x(.text("old"), early), x(.text("new"), late)]),
            (
                "two fields written apart: both writes stay",
                [
                    note([("x", .integer(2), late), ("y", .integer(1), early)]),
                    note([("x", .integer(1), early), ("y", .integer(2), late)]),
                ]
            ),
            (
                "fields that only one of the two knows",
                [note([("a", .integer(1), early)]), note([("b", .integer(2), early), ("c", .null, late)])]
            ),
            ("the counter decides within a millisecond", [x(.integer(1), counted), x(.integer(2), early)]),
            (
                "the replica decides under one time, as an unsigned number",
                [x(.integer(1), other), x(.integer(2), early)]
            ),
            ("a lower replica with a higher counter", [x(.integer(1), counted), x(.integer(2), other)]),
            ("one stamp, two values: the greater encoding", [x(.text("a"), early), x(.text("b"), early)]),
            ("one stamp: tags are compared first", [x(.integer(.max), early), x(.text(""), early)]),
            ("one stamp: text and blob", [x(.text("z"), early), x(.blob([0]), early)]),
            (
                "one stamp: the longer of two of which one begins the other",
                [x(.integer(1), early), x(.integer(-129), early)]
            ),
            ("one stamp: 0.0 and -0.0", [x(.real(0), early), x(.real(-0.0), early)]),
            ("one stamp: an integer and a date", [x(.date(1), early), x(.integer(1), early)]),
            ("one stamp: null is the least", [x(.null, early), x(.integer(0), early)]),
            (
                "one stamp: null and a reference",
                [x(.reference(Samples.game.name), early), x(.null, early)]
            ),
            ("a later null wins over a value", [x(.integer(0), early), x(.null, late)]),
            ("a later value wins over null", [x(.null, early), x(.integer(0), late)]),
            ("a deletion later than every write", [x(.integer(1), early), note(deletion: late)]),
            (
                "a deletion under the stamp of the write: deleted",
                [x(.integer(1), early), note(deletion: early)]
            ),
            (
                "an edit later than the deletion: it lives again whole",
                [
                    note([("x", .integer(1), early), ("y", .integer(1), early)], deletion: late),
                    note([("x", .integer(2), latest)]),
                ]
            ),
            ("two deletions", [note(deletion: early), note(deletion: late)]),
            (
                "a deletion by the greater replica beats the write under one time",
                [x(.integer(1), early), note(deletion: other)]
            ),
            ("a deletion by the lesser replica does not", [x(.integer(1), other), note(deletion: early)]),
            (
                "a revival later than the deletion keeps what has fields",
                [note([("x", .integer(1), early)], deletion: late), note(deletion: late, revival: latest)]
            ),
            (
                "a revival without fields: hollow",
                [note(deletion: early), note(deletion: early, revival: late)]
            ),
            ("a revival that is not later than the deletion", [note(deletion: late), note(revival: late)]),
            ("a revival alone: hollow", [note(revival: early), note(revival: late)]),
            (
                "a hollow record gets its fields, older than the deletion",
                [note(deletion: late, revival: latest), x(.integer(1), early)]
            ),
            (
                "a restoring: the fields are as they were",
                [
                    note([("x", .integer(1), early), ("y", .integer(2), early)], deletion: late),
                    note(revival: latest),
                ]
            ),
            (
                "deleted for ever: no field stays",
                [x(.integer(1), early), note(deletion: late, erasure: late)]
            ),
            (
                "a write under the stamp of the erasure is dropped",
                [x(.integer(1), late), note(deletion: late, erasure: late)]
            ),
            (
                "of two fields the one that is newer than the erasure stays: it lives",
                [
                    note([("x", .integer(1), early), ("y", .integer(2), latest)]),
                    note(deletion: late, erasure: late),
                ]
            ),
            (
                "an erased record that was written anew takes no older fields",
                [
                    note([("x", .integer(2), latest)], deletion: late, erasure: late),
                    note([("x", .integer(1), early), ("y", .integer(1), early)]),
                ]
            ),
            (
                "no revival brings back what was deleted for ever",
                [
                    note([("x", .integer(1), early)], deletion: early, revival: latest),
                    note(deletion: late, erasure: late),
                ]
            ),
            (
                "but a revival lets live what was written anew",
                [
                    note([("x", .integer(1), late)], deletion: late, revival: latest),
                    note(deletion: early, erasure: early),
                ]
            ),
            (
                "deleted again after an erasure: what was written between is kept, and does not travel",
                [x(.integer(1), late), note(deletion: early, erasure: early), note(deletion: latest)]
            ),
            (
                "two erasures",
                [
                    note([("x", .integer(1), late)], deletion: early, erasure: early),
                    note(deletion: latest, erasure: late),
                ]
            ),
            (
                "an erasure by the greater replica under one time",
                [x(.integer(1), early), note(deletion: other, erasure: other)]
            ),
            (
                "three states: a write, one for ever, one written anew",
                [
                    note([("x", .integer(1), early), ("y", .integer(1), early)]),
                    note(deletion: late, erasure: late), note([("x", .integer(2), latest)]),
                ]
            ),
            (
                "three states, each with something newer",
                [
                    note([("x", .integer(1), latest), ("y", .integer(1), early)]),
                    note([("y", .integer(2), late)], deletion: early),
                    note([("z", .null, early)], revival: late),
                ]
            ),
            (
                "three values under one stamp",
                [x(.integer(5), early), x(.real(5), early), x(.text("5"), early)]
            ),
        ]
    }
}
