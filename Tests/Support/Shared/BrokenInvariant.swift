/// Something that must always hold, and did not.
package struct BrokenInvariant: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) {
        self.description = description
    }
}

/// Throws ``BrokenInvariant`` unless a condition holds.
package func expect(
    _ condition: Bool, _ what: @autoclosure () -> String
) throws(BrokenInvariant) {
    guard condition else { throw BrokenInvariant(description: what()) }
}
