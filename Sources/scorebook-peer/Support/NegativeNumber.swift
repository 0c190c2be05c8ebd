/// Lets people write `score add … -7`: to the argument parser whatever begins with a hyphen is an option.
///
/// So the hyphen of a negative number goes past the parser as a minus sign, U+2212, which people may write as well.
enum NegativeNumber {
    private static let minus = "\u{2212}"

    /// An argument as the parser is to see it.
    static func masked(_ argument: String) -> String {
        let rest = argument.dropFirst()
        guard argument.hasPrefix("-"), let first = rest.first, first.isASCII, first.isNumber else {
            return argument
        }
        return minus + rest
    }

    /// What was meant.
    static func unmasked(_ argument: String) -> String {
        argument.hasPrefix(minus) ? "-" + argument.dropFirst() : argument
    }
}
