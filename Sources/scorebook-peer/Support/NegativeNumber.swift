/// The mask that lets people write `score add … -7`. The argument parser takes every word that begins with a hyphen
/// for an option.
///
/// So a word that begins with a hyphen and a digit passes the parser with a character in place of the hyphen that nobody types:
/// one of those for private use.
enum NegativeNumber {
    private static let mask = "\u{10FFFD}"

    /// Masks an argument for the parser.
    static func masked(_ argument: String) -> String {
        let rest = argument.dropFirst()
        guard argument.hasPrefix("-"), let first = rest.first, first.isASCII, first.isNumber else {
            return argument
        }
        return mask + rest
    }

    /// Undoes ``masked(_:)``, also within a sentence of the parser.
    @Sendable static func unmasked(_ text: String) -> String { text.replacing(mask, with: "-") }
}
