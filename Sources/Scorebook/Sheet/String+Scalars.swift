extension String {
    /// Puts texts in the places of scalars, whatever stands beside these.
    ///
    /// `replacing` looks for characters. A quotation mark with an accent behind it is one character, and no quotation mark; a
    /// shell, a spreadsheet or a database reads two scalars.
    public func replacingScalars(_ texts: [Unicode.Scalar: String]) -> String {
        unicodeScalars.reduce(into: "") { result, scalar in
            if let text = texts[scalar] { result += text } else { result.unicodeScalars.append(scalar) }
        }
    }
}
