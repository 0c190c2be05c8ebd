/// An object of a mailbox that does not open, or does not hold what belongs into its place.
///
/// Nothing of it is used. It may be torn, and whole later; so nobody concludes anything from it.
package struct DamagedObject: Error, Hashable, CustomStringConvertible {
    /// What is wrong with it.
    package let what: String

    package init(_ what: String) {
        self.what = what
    }

    package var description: String { "a damaged object: \(what)" }
}
