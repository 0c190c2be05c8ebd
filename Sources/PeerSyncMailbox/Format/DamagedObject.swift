/// An object of a mailbox that does not open, or does not hold what belongs into its place.
///
/// Nothing of it is used. It may be torn, and whole later; so nobody concludes anything from it.
package struct DamagedObject: Error, Hashable, CustomStringConvertible {
    /// What is wrong with it.
    package let what: String
    /// Which object it is, where somebody knows.
    package private(set) var name: MailboxObjectName?

    package init(_ what: String, name: MailboxObjectName? = nil) {
        self.what = what
        self.name = name
    }

    /// Runs `body`, which opens an object. Its errors then name the object.
    package static func naming<Value>(
        _ name: MailboxObjectName, _ body: () throws(DamagedObject) -> Value
    ) throws(DamagedObject) -> Value {
        do {
            return try body()
        } catch {
            var error = error
            error.name = name
            throw error
        }
    }

    package var description: String { "a damaged object: \(what)" }
}
