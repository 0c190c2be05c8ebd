import GRDB

/// The statements by which a transaction writes some columns of rows.
///
/// Peers choose which fields a record has and which of them change, so there may be as many statements as a type has sets of
/// columns, and the database's own cache keeps all it ever gets. It gets those that the schema bounds, which are nearly all
/// that are used; a few of the others are kept for as long as the transaction works.
final class RowStatements {
    private static let remembered = 32

    private let db: Database
    private var others: [String: Statement] = [:]

    init(_ db: Database) {
        self.db = db
    }

    /// A statement whose arguments ``Bindings`` binds.
    ///
    /// - Parameter isOneOfFew: whether the schema bounds how many of its kind there are.
    func statement(_ sql: String, isOneOfFew: Bool) throws -> Statement {
        if isOneOfFew { return try db.statementToBind(sql) }
        if let known = others[sql] { return known }
        if others.count >= Self.remembered { others.removeAll() }
        let statement = try db.makeStatementToBind(sql)
        others[sql] = statement
        return statement
    }
}
