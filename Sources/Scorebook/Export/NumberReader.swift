import PeerSync

/// Reads the numbers at a place of a file.
struct NumberReader {
    /// As `line 12`.
    let place: String

    /// Reads a whole number of at most nine digits.
    ///
    /// - Returns: nil for a missing or blank one, and for `N/A`.
    func number(_ text: String?, _ name: String) throws -> Int? {
        guard let text = text?.filled, text != "N/A" else { return nil }
        // Some exports write 2.0 for 2.
        let digits = text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        guard digits.utf8.count <= 10, let number = Int32(digits) else {
            throw ImportFileError.at(
                place, "has “\(Display.printable(text.prefix(60)))” as \(name); it should be a whole number")
        }
        return Int(number)
    }
}
