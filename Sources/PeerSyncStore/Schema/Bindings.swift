import GRDB
import GRDBSQLite
import PeerSyncModel

/// The arguments of a statement that runs many times, in a reusable buffer.
///
/// GRDB boxes each of its arguments, and SQLite by default copies each text and blob. This type puts the arguments one
/// after the other into one buffer, and SQLite reads them there.
///
/// A statement may live longer than the buffer, so nothing stays bound after the execution.
struct Bindings: ~Copyable {
    private enum Argument {
        case null
        case integer(Int64)
        case real(Double)
        case text(offset: Int, count: Int)
        case blob(offset: Int, count: Int)
    }

    private var arguments: [Argument] = []
    private var buffer: UnsafeMutableRawBufferPointer
    private var used = 0

    init() {
        buffer = .allocate(byteCount: 1024, alignment: 1)
    }

    deinit { buffer.deallocate() }

    /// Discards the arguments, to begin with the first one.
    mutating func begin() {
        arguments.removeAll(keepingCapacity: true)
        used = 0
    }

    mutating func append(_ value: Int64?) { arguments.append(value.map(Argument.integer) ?? .null) }

    /// Appends a text with its length, because it may contain NUL.
    mutating func append(_ text: String?) {
        guard let text else { return arguments.append(.null) }
        let count = text.utf8.count
        reserve(count)
        var copy = text
        copy.withUTF8 { memory(count)?.copyMemory(from: UnsafeRawBufferPointer($0)) }
        arguments.append(.text(offset: used, count: count))
        used += count
    }

    mutating func append(blob bytes: [UInt8]) {
        reserve(bytes.count)
        memory(bytes.count)?.copyBytes(from: bytes)
        arguments.append(.blob(offset: used, count: bytes.count))
        used += bytes.count
    }

    /// Appends a value in the form in which a field's column holds it.
    mutating func append(_ value: FieldValue) {
        switch value {
        case .null: arguments.append(.null)
        case .integer(let value): append(value)
        case .real(let value): arguments.append(.real(value))
        case .text(let text): append(text)
        case .blob(let bytes): append(blob: bytes)
        case .date, .reference, .asset: append(value.columnText)
        }
    }

    private mutating func reserve(_ count: Int) {
        guard buffer.count - used < count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: (used + count) * 2, alignment: 1)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<used]))
        buffer.deallocate()
        buffer = larger
    }

    private func memory(_ count: Int) -> UnsafeMutableRawBufferPointer? {
        count == 0 ? nil : UnsafeMutableRawBufferPointer(rebasing: buffer[used..<used + count])
    }

    // MARK: Binding

    /// Executes a statement with these arguments.
    ///
    /// - Parameter statement: a statement of ``GRDB/Database/statementToBind(_:)``.
    borrowing func execute(_ statement: Statement) throws {
        defer { sqlite3_clear_bindings(statement.sqliteStatement) }
        try bind(to: statement)
        try statement.execute()
    }

    /// Resets a statement, also one that has failed, and binds all arguments to it.
    private borrowing func bind(to statement: Statement) throws {
        let row = statement.sqliteStatement
        sqlite3_reset(row)
        var index: Int32 = 0
        for argument in arguments {
            index += 1
            let code = bind(argument, to: row, at: index)
            guard code == SQLITE_OK else { throw error(code, statement) }
        }
    }

    /// Binds without a destructor, so that SQLite neither copies nor frees the memory.
    private borrowing func bind(_ argument: Argument, to row: OpaquePointer, at index: Int32) -> Int32 {
        switch argument {
        case .null: return sqlite3_bind_null(row, index)
        case .integer(let value): return sqlite3_bind_int64(row, index, value)
        case .real(let value): return sqlite3_bind_double(row, index, value)
        case .text(let offset, let count):
            let text = buffer.baseAddress!.advanced(by: offset).assumingMemoryBound(to: CChar.self)
            return sqlite3_bind_text(row, index, text, Int32(count), nil)
        case .blob(let offset, let count):
            return sqlite3_bind_blob(row, index, buffer.baseAddress!.advanced(by: offset), Int32(count), nil)
        }
    }

    /// Whether a query finds any row with these arguments.
    borrowing func findsRow(_ statement: Statement) throws -> Bool {
        var isFound = false
        try read(statement) { _ in
            isFound = true
            return false
        }
        return isFound
    }

    /// Passes each row that a query finds with these arguments to `body`, until `body` returns false.
    borrowing func read(_ statement: Statement, _ body: (SQLiteStatement) throws -> Bool) throws {
        let row = statement.sqliteStatement
        defer {
            sqlite3_reset(row)
            sqlite3_clear_bindings(row)
        }
        try bind(to: statement)
        while true {
            let code = sqlite3_step(row)
            guard code == SQLITE_ROW || code == SQLITE_DONE else { throw error(code, statement) }
            guard code == SQLITE_ROW, try body(row) else { return }
        }
    }

    private borrowing func error(_ code: Int32, _ statement: Statement) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errstr(code)),
            sql: statement.sql)
    }
}

extension Database {
    /// Returns a cached statement for ``Bindings``. GRDB takes all its arguments as bound.
    func statementToBind(_ sql: String) throws -> Statement {
        let statement = try cachedStatement(sql: sql)
        statement.setUncheckedArguments(StatementArguments())
        return statement
    }

    /// Does the same with a new statement, which the caller keeps.
    func makeStatementToBind(_ sql: String) throws -> Statement {
        let statement = try makeStatement(sql: sql)
        statement.setUncheckedArguments(StatementArguments())
        return statement
    }
}

extension Database {
    /// - Parameter table: where `body` updates or deletes rows; nil if it only inserts. See ``RecordTable/computesIndexes``.
    /// - Returns: false when a table refuses what `body` writes: see ``isRefusal(_:)``.
    /// - Throws: the error of a trigger that has ended the transaction with RAISE(ROLLBACK), and all others.
    func catchingConstraint(in table: RecordTable? = nil, _ body: () throws -> Void) throws -> Bool {
        do {
            guard table?.computesIndexes == true else {
                try body()
                return true
            }
            try inSavepoint {
                try body()
                return .commit
            }
            return true
        } catch let error as DatabaseError where isRefusal(error) {
            return false
        }
    }

    /// Whether a statement failed for the values that it writes: a constraint or a trigger refuses them, or an index, a CHECK, a
    /// generated column or a trigger cannot compute with them. The transaction goes on without the statement.
    func isRefusal(_ error: DatabaseError) -> Bool {
        guard isInsideTransaction else { return false }
        switch error.resultCode {
        case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG: return true
        // The same code says that SQLite cannot compile a statement, because a table is missing for example: then it takes no values.
        case .SQLITE_ERROR: return error.sql.map { (try? makeStatement(sql: $0)) != nil } ?? false
        default: return false
        }
    }
}
