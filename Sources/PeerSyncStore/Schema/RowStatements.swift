import GRDB

/// The statements with which a transaction writes some columns of rows.
///
/// Peers choose the fields of a record and which of them change. So each set of columns of a type may need a statement,
/// and the database's own cache never drops one. That cache only gets statements whose number the schema bounds, which
/// are nearly all in use. This type keeps a few of the others for one transaction.
final class RowStatements {
    private static let remembered = 32

    private let db: Database
    private var others: [String: Statement] = [:]

    init(_ db: Database) {
        self.db = db
    }

    /// Returns a statement for ``Bindings``.
    ///
    /// - Parameter isOneOfFew: whether the schema bounds the number of statements of its kind.
    func statement(_ sql: String, isOneOfFew: Bool) throws -> Statement {
        if isOneOfFew { return try db.statementToBind(sql) }
        if let known = others[sql] { return known }
        if others.count >= Self.remembered { others.removeAll() }
        let statement = try db.makeStatementToBind(sql)
        others[sql] = statement
        return statement
    }
}
