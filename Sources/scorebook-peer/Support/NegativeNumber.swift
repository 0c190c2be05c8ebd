/// The mask that lets people write `score add … -7`. The argument parser takes every word that begins with a hyphen
/// for an option.
///
/// So a negative number passes the parser with a minus sign, U+2212, in place of the hyphen. People may also type the
/// minus sign.
enum NegativeNumber {
    private static let minus = "\u{2212}"

    /// Masks an argument for the parser.
    static func masked(_ argument: String) -> String {
        let rest = argument.dropFirst()
        guard argument.hasPrefix("-"), let first = rest.first, first.isASCII, first.isNumber else {
            return argument
        }
        return minus + rest
    }

    /// Undoes ``masked(_:)``.
    static func unmasked(_ argument: String) -> String {
        argument.hasPrefix(minus) ? "-" + argument.dropFirst() : argument
    }
}
