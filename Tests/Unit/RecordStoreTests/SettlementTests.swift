import PeerSyncModel
import PeerSyncStore
import Testing

/// What is shown of given states where stamps are equal, or lie between others.
struct SettlementTests: PeerRecords {
    private let machine: Machine

    init() throws {
        machine = try Machine("a", number: 1)
    }

    private func book(shelf: Stamp, title: Stamp) throws -> RecordState {
        var book = try record("Book|~|1", ["author": .reference(RecordName("Author|~|1"))])
        book.write(RecordField(name: "shelf", value: .reference(try RecordName("Shelf|~|1")), stamp: shelf))
        book.write(RecordField(name: "title", value: .text("Emma"), stamp: title))
        return book
    }

    private func shelf(deletion: Stamp?) throws -> RecordState {
        try record("Shelf|~|1", ["label": .text("top")], deletion: deletion)
    }

    /// An import dates all that it changed alike.
    @Test func aReferenceWrittenUnderTheStampOfTheDeletionIsEmptied() async throws {
        try await apply(
            [[author(1), shelf(deletion: later(100)), book(shelf: later(100), title: later(0))]], to: machine)
        #expect(try machine.rows("SELECT title, shelf FROM Book") == ["Emma|-"])
        #expect(try machine.rows("SELECT label FROM Shelf").isEmpty)
    }

    /// Who edits a book's title does not say again where the book is.
    @Test func aShelfIsKeptByWhatPutsABookThereAlone() async throws {
        let book = try book(shelf: later(150), title: later(300))
        try await apply([[author(1), shelf(deletion: later(100)), book]], to: machine)
        #expect(try machine.rows("SELECT title, shelf FROM Book") == ["Emma|Shelf|~|1"])
        try await apply([[record("Shelf|~|1", [:], deletion: later(200))]], to: machine)
        #expect(try machine.rows("SELECT title, shelf FROM Book") == ["Emma|-"])
        #expect(try machine.rows("SELECT label FROM Shelf").isEmpty)
    }

    @Test func aBookThatIsMovedToADeletedShelfHasNone() async throws {
        let gone = try record("Shelf|~|2", ["label": .text("low")], deletion: later(100))
        let book = try book(shelf: later(10), title: later(10))
        try await apply([[author(1), shelf(deletion: nil), gone, book]], to: machine)
        #expect(try machine.rows("SELECT shelf FROM Book") == ["Shelf|~|1"])
        let move: KeyValuePairs<String, FieldValue> = ["shelf": .reference(try RecordName("Shelf|~|2"))]
        try await apply([[record("Book|~|1", move, at: later(50))]], to: machine)
        #expect(try machine.rows("SELECT title, shelf FROM Book") == ["Emma|-"])
    }

    /// The loan itself has not changed.
    @Test func whatNeedsABookThatIsMovedOutOfSightGoesWithIt() async throws {
        let loan = try record("Loan|~|1", ["book": .reference(RecordName("Book|~|1"))])
        try await apply(
            [[author(1), shelf(deletion: nil), book(shelf: later(0), title: later(0)), loan]], to: machine)
        #expect(try machine.rows("SELECT recordName FROM Loan") == ["Loan|~|1"])
        let move: KeyValuePairs<String, FieldValue> = [
            "author": .reference(try RecordName("Author|~|unknown"))
        ]
        try await apply([[record("Book|~|1", move, at: later(50))]], to: machine)
        #expect(try machine.rows("SELECT recordName FROM Book UNION SELECT recordName FROM Loan").isEmpty)
    }

    @Test func whatComesBelowAHiddenRecordIsHidden() async throws {
        let author = try record("Author|~|1", ["name": .text("Jane")], deletion: later(100))
        try await apply([[author, book(shelf: later(0), title: later(0))]], to: machine)
        try await apply([[record("Loan|~|1", ["book": .reference(RecordName("Book|~|1"))])]], to: machine)
        let hidden = try machine.rows("SELECT remoteRecordID FROM grdb_sync_remoteRecord WHERE status = 3")
        #expect(hidden.sorted() == ["Book|~|1", "Loan|~|1"])
    }

    /// Who goes as well needs nobody.
    @Test func aBookThatIsDeletedItselfKeepsNoAuthor() async throws {
        let author = try record("Author|~|1", ["name": .text("Jane")], deletion: later(100))
        let fields: KeyValuePairs<String, FieldValue> = ["author": .reference(try RecordName("Author|~|1"))]
        try await apply(
            [[author, record("Book|~|1", fields, at: later(150), deletion: later(200))]], to: machine)
        #expect(try machine.rows("SELECT name FROM Author").isEmpty)
    }
}
