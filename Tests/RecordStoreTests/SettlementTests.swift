import RecordStore
import SyncModel
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

    /// Who goes as well needs nobody.
    @Test func aBookThatIsDeletedItselfKeepsNoAuthor() async throws {
        let author = try record("Author|~|1", ["name": .text("Jane")], deletion: later(100))
        let fields: KeyValuePairs<String, FieldValue> = ["author": .reference(try RecordName("Author|~|1"))]
        try await apply(
            [[author, record("Book|~|1", fields, at: later(150), deletion: later(200))]], to: machine)
        #expect(try machine.rows("SELECT name FROM Author").isEmpty)
    }
}
