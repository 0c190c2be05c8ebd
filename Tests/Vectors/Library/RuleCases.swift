import PeerSyncModel

/// States that a replica holds, and their consequences by protocol.md 9.2 and 9.3. The result of a new case must come
/// from that text: a test checks the store against it.
package struct RuleCase: Sendable {
    package let why: String
    package var states: [RecordState]
    /// The records that are in another zone than the rest.
    package let elsewhere: Set<String>
    package let expected: RuleOutcome

    /// - Parameters:
    ///   - revived: the stamps that revivals are raised to. Every other state stays as it is.
    ///   - hidden: the hidden records, each with the record that hides it.
    ///   - empty: by record, the reference that is empty in its row.
    ///
    /// A record that is neither deleted, hidden nor held is shown.
    fileprivate init(
        _ why: String, _ states: [RecordState], elsewhere: Set<String> = [], revived: [String: Stamp] = [:],
        deleted: [String] = [], hidden: [String: String] = [:], held: [String] = [],
        empty: [String: String] = [:]
    ) {
        self.why = why
        self.states = states
        self.elsewhere = elsewhere
        var outcome = RuleOutcome()
        let sorted = states.sorted { $0.name < $1.name }
        outcome.after = sorted.map { state in
            guard let stamp = revived[state.name.description] else { return state }
            var state = state
            state.revival = stamp
            return state
        }
        let unseen = Set(deleted).union(hidden.keys).union(held)
        outcome.shown = sorted.map(\.name.description).filter { !unseen.contains($0) }
        outcome.hidden = hidden
        outcome.held = held.sorted()
        outcome.empty = empty.sorted { $0.key < $1.key }.map {
            RuleOutcome.Reference(record: $0.key, field: $0.value)
        }
        expected = outcome
    }
}

extension VectorFile {
    package static var ruleCases: [RuleCase] {
        hiding + nullifications + revivals + revivalsFromFarBelow + restorings + erasures + zones + unknown
            + held
    }

    private static func at(_ milliseconds: Int64) -> Stamp { Samples.stamp(milliseconds) }

    private static let author = "Author|~|1"
    private static let shelf = "Shelf|~|1"
    private static let book = "Book|~|1"
    private static let loan = "Loan|~|1"

    private static func page(_ number: Int) -> String { "Page|~|\(number)" }

    /// A record that was written once.
    private static func record(
        _ name: String, _ references: [String: String] = [:], at stamp: Stamp, deletion: Stamp? = nil,
        revival: Stamp? = nil, erasure: Stamp? = nil
    ) -> RecordState {
        let fields = references.mapValues { FieldValue.reference(Samples.name($0)) }
            .merging(["text": .text(name)]) { $1 }
        return Samples.state(
            name, fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value, stamp) }, deletion: deletion,
            revival: revival, erasure: erasure)
    }

    /// A deleted record as peers send it.
    private static func tombstone(_ name: String, at stamp: Stamp) -> RecordState {
        Samples.state(name, deletion: stamp)
    }

    private static func erased(_ name: String, at stamp: Stamp, revival: Stamp? = nil) -> RecordState {
        Samples.state(name, deletion: stamp, revival: revival, erasure: stamp)
    }

    // MARK: Cascade and deny

    private static var hiding: [RuleCase] {
        [
            RuleCase(
                "a deletion hides what needs the record, and writes nothing there",
                [record(author, at: at(0), deletion: at(100)), record(book, ["author": author], at: at(50))],
                deleted: [author], hidden: [book: author]),
            RuleCase(
                "and what needs that; the deleted record's fields do not matter",
                [
                    tombstone(author, at: at(100)), record(book, ["author": author], at: at(50)),
                    record(loan, ["book": book], at: at(60)),
                ],
                deleted: [author], hidden: [book: author, loan: author]),
            RuleCase(
                "a write under the stamp of the deletion is not newer",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(book, ["author": author], at: at(100)),
                ],
                deleted: [author], hidden: [book: author]),
            RuleCase(
                "under one time the replica decides what is newer",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(
                        book, ["author": author], at: Samples.stamp(100, counter: 0, Samples.attic)),
                ],
                revived: [author: Samples.stamp(100, counter: 0, Samples.attic)]),
            RuleCase(
                "deny is cascade when the deletion has happened elsewhere",
                [
                    record(book, ["author": author], at: at(0), deletion: at(100)), record(author, at: at(0)),
                    record(loan, ["book": book], at: at(50)),
                ],
                deleted: [book], hidden: [loan: book]),
            RuleCase(
                "a deletion that a newer write has ended hides nothing, not even what is older than it",
                [
                    record(author, at: at(200), deletion: at(100)),
                    record(book, ["author": author], at: at(50)),
                    record("Book|~|2", ["author": author], at: at(150)),
                ]),
            RuleCase(
                "of two deletions above a record the newer one hides it: the near one",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(book, ["author": author], at: at(0), deletion: at(200)),
                    record(loan, ["book": book], at: at(50)),
                ],
                deleted: [author, book], hidden: [loan: book]),
            RuleCase(
                "or the far one",
                [
                    record(author, at: at(0), deletion: at(200)),
                    record(book, ["author": author], at: at(0), deletion: at(100)),
                    record(loan, ["book": book], at: at(50)),
                ],
                deleted: [author, book], hidden: [loan: author]),
            RuleCase(
                "records that need each other in a circle",
                [
                    record(page(1), ["next": page(2)], at: at(0)),
                    record(page(2), ["next": page(3)], at: at(0)),
                    record(page(3), ["next": page(1)], at: at(0), deletion: at(100)),
                ],
                deleted: [page(3)], hidden: [page(1): page(3), page(2): page(3)]),
            RuleCase(
                "a record that needs itself",
                [record(page(1), ["next": page(1)], at: at(0), deletion: at(100))], deleted: [page(1)]),
            RuleCase(
                "two references at once: the one with the rule nullify hides nothing",
                [
                    record(author, at: at(0), deletion: at(100)), record(shelf, at: at(0), deletion: at(200)),
                    record(book, ["author": author, "shelf": shelf], at: at(50)),
                ],
                deleted: [author, shelf], hidden: [book: author]),
        ]
    }

    // MARK: Nullify

    private static var nullifications: [RuleCase] {
        [
            RuleCase(
                "a reference older than the deletion is empty in the row, and stays in the state",
                [
                    record(author, at: at(0)), tombstone(shelf, at: at(100)),
                    record(book, ["author": author, "shelf": shelf], at: at(50)),
                ],
                deleted: [shelf], empty: [book: "shelf"]),
            RuleCase(
                "a reference under the stamp of the deletion is not newer",
                [
                    record(author, at: at(0)), record(shelf, at: at(0), deletion: at(100)),
                    record(book, ["author": author, "shelf": shelf], at: at(100)),
                ],
                deleted: [shelf], empty: [book: "shelf"]),
            RuleCase(
                "a reference newer than the deletion brings the record back",
                [
                    record(author, at: at(0)), record(shelf, at: at(0), deletion: at(100)),
                    record(book, ["author": author, "shelf": shelf], at: at(150)),
                ],
                revived: [shelf: at(150)]),
            RuleCase(
                "another field that is newer does not",
                [
                    record(author, at: at(0)), record(shelf, at: at(0), deletion: at(100)),
                    Samples.state(
                        book,
                        [
                            ("author", .reference(Samples.name(author)), at(50)),
                            ("shelf", .reference(Samples.name(shelf)), at(50)), ("text", .text("x"), at(150)),
                        ]),
                ],
                deleted: [shelf], empty: [book: "shelf"]),
            RuleCase(
                "nor does a revival",
                [
                    record(author, at: at(0)), record(shelf, at: at(0), deletion: at(100)),
                    record(book, ["author": author, "shelf": shelf], at: at(50), revival: at(150)),
                ],
                deleted: [shelf], empty: [book: "shelf"]),
            RuleCase(
                "a deletion that a newer write has ended empties nothing",
                [
                    record(author, at: at(0)), record(shelf, at: at(200), deletion: at(100)),
                    record(book, ["author": author, "shelf": shelf], at: at(50)),
                ]),
            RuleCase(
                "a restoring fills the reference again",
                [
                    record(author, at: at(0)), record(shelf, at: at(0), deletion: at(100), revival: at(200)),
                    record(book, ["author": author, "shelf": shelf], at: at(50)),
                ]),
            RuleCase(
                "empty because the record has not come",
                [record(author, at: at(0)), record(book, ["author": author, "shelf": shelf], at: at(50))],
                empty: [book: "shelf"]),
            RuleCase(
                "empty because the record that comes back has its fields elsewhere",
                [
                    record(author, at: at(0)), tombstone(shelf, at: at(100)),
                    record(book, ["author": author, "shelf": shelf], at: at(150)),
                ],
                revived: [shelf: at(150)], held: [shelf], empty: [book: "shelf"]),
            RuleCase(
                "empty because the record is hidden, which a newer reference does not end: it is not deleted",
                [
                    record(author, at: at(0)), record(book, ["author": author], at: at(0)),
                    record(page(1), at: at(0), deletion: at(100)),
                    record(page(2), ["next": page(1)], at: at(0)),
                    record(loan, ["book": book, "page": page(2)], at: at(150)),
                ],
                deleted: [page(1)], hidden: [page(2): page(1)], empty: [loan: "page"]),
            RuleCase(
                "what a reference has brought back speaks in turn",
                [
                    record(author, at: at(0)), record(book, ["author": author], at: at(0)),
                    record(page(1), at: at(0), deletion: at(100)),
                    record(page(2), ["next": page(1)], at: at(0), deletion: at(90)),
                    record(loan, ["book": book, "page": page(2)], at: at(150)),
                ],
                revived: [page(1): at(150), page(2): at(150)]),
            RuleCase(
                "the reference of a hidden record speaks",
                [
                    record(author, at: at(0), deletion: at(200)), record(shelf, at: at(0), deletion: at(100)),
                    record(book, ["author": author, "shelf": shelf], at: at(150)),
                ],
                revived: [shelf: at(150)], deleted: [author], hidden: [book: author]),
            RuleCase(
                "that of a deleted one does not",
                [
                    record(author, at: at(0)), record(shelf, at: at(0), deletion: at(100)),
                    record(book, ["author": author, "shelf": shelf], at: at(150), deletion: at(200)),
                ],
                deleted: [book, shelf]),
            RuleCase(
                "unless it comes back, and then with the stamp of the reference",
                [
                    record(author, at: at(0)), record(shelf, at: at(0), deletion: at(100)),
                    record(book, ["author": author, "shelf": shelf], at: at(150), deletion: at(200)),
                    record(loan, ["book": book], at: at(250)),
                ],
                revived: [book: at(250), shelf: at(150)]),
        ]
    }

    // MARK: Revival

    private static var revivals: [RuleCase] {
        [
            RuleCase(
                "a record newer than the deletion brings back what it needs, whole",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(book, ["author": author], at: at(150)),
                ],
                revived: [author: at(150)]),
            RuleCase(
                "and with it everything that had gone only because of the deletion",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(book, ["author": author], at: at(150)),
                    record("Book|~|2", ["author": author], at: at(50)),
                ],
                revived: [author: at(150)]),
            RuleCase(
                "but not what was deleted by itself",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(book, ["author": author], at: at(150)),
                    record("Book|~|2", ["author": author], at: at(50), deletion: at(60)),
                ],
                revived: [author: at(150)], deleted: ["Book|~|2"]),
            RuleCase(
                "of several the newest counts",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(book, ["author": author], at: at(160)),
                    record("Book|~|2", ["author": author], at: at(150)),
                ],
                revived: [author: at(160)]),
            RuleCase(
                "where the fields of what comes back are elsewhere it is hollow, and both are held",
                [tombstone(author, at: at(100)), record(book, ["author": author], at: at(150))],
                revived: [author: at(150)], held: [author, book]),
            RuleCase(
                "a deleted record speaks for nobody",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(book, ["author": author], at: at(150), deletion: at(200)),
                ],
                deleted: [author, book]),
            RuleCase(
                "what was brought back by a record that was deleted since stays",
                [
                    record(author, at: at(0), deletion: at(100), revival: at(150)),
                    record(book, ["author": author], at: at(150), deletion: at(200)),
                ],
                deleted: [book]),
            RuleCase(
                "a newer deletion ends a revival",
                [
                    record(author, at: at(0), deletion: at(200), revival: at(150)),
                    record(book, ["author": author], at: at(150)),
                ],
                deleted: [author], hidden: [book: author]),
            RuleCase(
                "a circle with a newer record in it",
                [
                    record(page(1), ["next": page(2)], at: at(150)),
                    record(page(2), ["next": page(1)], at: at(0), deletion: at(100)),
                ],
                revived: [page(2): at(150)]),
        ]
    }

    private static var revivalsFromFarBelow: [RuleCase] {
        [
            RuleCase(
                "through a record that was never deleted, which needs no revival",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(book, ["author": author], at: at(50)),
                    record(loan, ["book": book], at: at(150)),
                ],
                revived: [author: at(150)]),
            RuleCase(
                "through a deleted record, which comes back as well",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(book, ["author": author], at: at(50), deletion: at(90)),
                    record(loan, ["book": book], at: at(150)),
                ],
                revived: [author: at(150), book: at(150)]),
            RuleCase(
                "through a deleted record that stays deleted",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(book, ["author": author], at: at(50), deletion: at(200)),
                    record(loan, ["book": book], at: at(150)),
                ],
                revived: [author: at(150)], deleted: [book], hidden: [loan: book]),
            RuleCase(
                "through a record whose deletion has the same stamp as the write",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(book, ["author": author], at: at(50), deletion: at(150)),
                    record(loan, ["book": book], at: at(150)),
                ],
                revived: [author: at(150)], deleted: [book], hidden: [loan: book]),
            RuleCase(
                "a record of which only the deletion is known leads no further",
                [
                    record(author, at: at(0), deletion: at(100)), tombstone(book, at: at(100)),
                    record(loan, ["book": book], at: at(150)),
                ],
                revived: [book: at(150)], deleted: [author], held: [book, loan]),
            RuleCase(
                "what is above a record that is shown comes back, too",
                [
                    record(page(1), at: at(0), deletion: at(100)),
                    record(page(2), ["next": page(1)], at: at(200), deletion: at(150)),
                    record(page(3), ["next": page(2)], at: at(0)),
                ],
                revived: [page(1): at(200)]),
        ]
    }

    private static var restorings: [RuleCase] {
        [
            RuleCase(
                "a restoring brings back what had gone with the record",
                [
                    record(author, at: at(0), deletion: at(100), revival: at(150)),
                    record(book, ["author": author], at: at(50)), record(loan, ["book": book], at: at(60)),
                ]),
            RuleCase(
                "but not what was deleted by itself",
                [
                    record(author, at: at(0), deletion: at(100), revival: at(150)),
                    record(book, ["author": author], at: at(50), deletion: at(90)),
                    record(loan, ["book": book], at: at(60)),
                ],
                deleted: [book], hidden: [loan: book]),
            RuleCase(
                "a restoring under the stamp of the deletion is not newer",
                [
                    record(author, at: at(0), deletion: at(100), revival: at(100)),
                    record(book, ["author": author], at: at(50)),
                ],
                deleted: [author], hidden: [book: author]),
            RuleCase(
                "a restoring brings back what the record needs",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(book, ["author": author], at: at(50), deletion: at(90), revival: at(150)),
                ],
                revived: [author: at(150)]),
            RuleCase(
                "so does that of a record that is hidden only",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(book, ["author": author], at: at(50), revival: at(150)),
                ],
                revived: [author: at(150)]),
            RuleCase(
                "a restoring that is older than the deletion above",
                [
                    record(author, at: at(0), deletion: at(200)),
                    record(book, ["author": author], at: at(50), deletion: at(90), revival: at(150)),
                ],
                deleted: [author], hidden: [book: author]),
        ]
    }

    // MARK: Erasure

    private static var erasures: [RuleCase] {
        [
            RuleCase(
                "nothing below brings back what was deleted for ever, nor raises its revival",
                [erased(author, at: at(100)), record(book, ["author": author], at: at(150))],
                deleted: [author], hidden: [book: author]),
            RuleCase(
                "nor does a revival of its own",
                [
                    erased(author, at: at(100), revival: at(200)),
                    record(book, ["author": author], at: at(150)),
                ],
                deleted: [author], hidden: [book: author]),
            RuleCase(
                "nor a newer reference with the rule nullify",
                [
                    record(author, at: at(0)), erased(shelf, at: at(100)),
                    record(book, ["author": author, "shelf": shelf], at: at(150)),
                ],
                deleted: [shelf], empty: [book: "shelf"]),
            RuleCase(
                "nothing is known above a record that was deleted for ever",
                [
                    record(author, at: at(0), deletion: at(100)), erased(book, at: at(100)),
                    record(loan, ["book": book], at: at(150)),
                ],
                deleted: [author, book], hidden: [loan: book]),
            RuleCase(
                "written anew it is shown, with what is below it",
                [
                    record(author, at: at(150), deletion: at(100), erasure: at(100)),
                    record(book, ["author": author], at: at(50)),
                ]),
            RuleCase(
                "written anew and deleted again it comes back as any other",
                [
                    record(author, at: at(150), deletion: at(200), erasure: at(100)),
                    record(book, ["author": author], at: at(250)),
                ],
                revived: [author: at(250)]),
        ]
    }

    // MARK: Zones and types

    private static var zones: [RuleCase] {
        [
            RuleCase(
                "a reference into another zone is shown if the record is",
                [record(author, at: at(0)), record(book, ["author": author], at: at(50))], elsewhere: [book]),
            RuleCase(
                "a deletion hides nothing in another zone: that is held",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(book, ["author": author], at: at(50)),
                    record(loan, ["book": book], at: at(50)),
                ],
                elsewhere: [book, loan], deleted: [author], held: [book, loan]),
            RuleCase(
                "and nothing there brings it back",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(book, ["author": author], at: at(150)),
                ],
                elsewhere: [book], deleted: [author], held: [book]),
            RuleCase(
                "nor does a reference with the rule nullify, which is empty",
                [
                    record(author, at: at(0)), record(shelf, at: at(0), deletion: at(100)),
                    record(book, ["author": author, "shelf": shelf], at: at(150)),
                ],
                elsewhere: [author, book], deleted: [shelf], empty: [book: "shelf"]),
            RuleCase(
                "no revival goes through another zone",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record(book, ["author": author], at: at(50)), record(loan, ["book": book], at: at(150)),
                ],
                elsewhere: [book], deleted: [author], held: [book, loan]),
        ]
    }

    private static var unknown: [RuleCase] {
        [
            RuleCase(
                "a type that the schema does not have has no references",
                [
                    record(author, at: at(0), deletion: at(100)),
                    record("Odd|~|1", ["author": author], at: at(150)),
                ],
                deleted: [author], held: ["Odd|~|1"]),
            RuleCase(
                "a deleted record of such a type",
                [record("Odd|~|1", at: at(0), deletion: at(100))], deleted: ["Odd|~|1"]),
            RuleCase(
                "a field that the schema does not have is no reference",
                [
                    record(author, at: at(0)), record(shelf, at: at(0), deletion: at(100)),
                    record(book, ["author": author, "place": shelf], at: at(150)),
                ],
                deleted: [shelf]),
            RuleCase(
                "a reference to another type leads nowhere: it brings nothing back, and nothing hides the record",
                [record(shelf, at: at(0), deletion: at(100)), record(book, ["author": shelf], at: at(150))],
                deleted: [shelf], held: [book]),
        ]
    }

    // MARK: Held

    private static var held: [RuleCase] {
        [
            RuleCase(
                "what a record needs has not come, by the rule cascade",
                [record(book, ["author": author], at: at(0))], held: [book]),
            RuleCase(
                "or deny", [record(loan, ["book": book], at: at(0))], held: [loan]),
            RuleCase(
                "and what needs the record that is held",
                [record(book, ["author": author], at: at(0)), record(loan, ["book": book], at: at(0))],
                held: [book, loan]),
            RuleCase(
                "what is hollow, though it was never deleted",
                [Samples.state(author, revival: at(0)), record(book, ["author": author], at: at(0))],
                held: [author, book]),
            RuleCase(
                "a reference that is none",
                [Samples.state(book, [("author", .text("nobody"), at(0)), ("text", .null, at(0))])],
                held: [book]),
            RuleCase(
                "so is one with the rule nullify",
                [
                    record(author, at: at(0)),
                    Samples.state(
                        book,
                        [
                            ("author", .reference(Samples.name(author)), at(0)),
                            ("shelf", .text("none"), at(0)),
                        ]
                    ),
                ],
                held: [book]),
            RuleCase(
                "a reference to another type",
                [record(shelf, at: at(0)), record(book, ["author": shelf], at: at(0))], held: [book]),
            RuleCase(
                "also with the rule nullify",
                [record(author, at: at(0)), record(book, ["author": author, "shelf": author], at: at(0))],
                held: [book]),
            RuleCase(
                "a required reference that is null, or missing",
                [
                    Samples.state(book, [("author", .null, at(0))]),
                    Samples.state(loan, [("text", .text("x"), at(0))]),
                ],
                held: [book, loan]),
            RuleCase(
                "a circle is shown together",
                [
                    record(page(1), ["next": page(2)], at: at(0)),
                    record(page(2), ["next": page(1)], at: at(0)),
                ]),
            RuleCase(
                "or held together",
                [
                    record(page(1), ["next": page(2)], at: at(0)),
                    record(page(2), ["next": page(3)], at: at(0)),
                ],
                held: [page(1), page(2)]),
        ]
    }
}
