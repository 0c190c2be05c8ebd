import GRDB

extension Database {
    /// Executes a statement that runs often: the connection keeps it compiled.
    func executeCached(_ sql: String, _ arguments: StatementArguments = []) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// Whether the first value of a query that runs often is true; false if there is none.
    func fetchBoolCached(_ sql: String, _ arguments: StatementArguments = []) throws -> Bool {
        try Bool.fetchOne(cachedStatement(sql: sql), arguments: arguments) ?? false
    }

    /// The number that a query that runs often counts; 0 if it finds no row.
    func fetchCountCached(_ sql: String, _ arguments: StatementArguments = []) throws -> Int {
        try Int.fetchOne(cachedStatement(sql: sql), arguments: arguments) ?? 0
    }
}
