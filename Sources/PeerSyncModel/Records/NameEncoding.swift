/// The names of tables and columns, written as the identifiers that name record types and fields (Protocol, "Names").
///
/// - An identifier stands as it is, unless it begins with `_0`.
/// - Any other name stands as `_0` and its characters: letters of ASCII and digits as they are, `_` as `__`, each other one
///   as `_`, its Unicode scalar value in hexadecimal digits in upper case, and `_`. So `Order lines` is
///   `_0Order_20_lines`.
///
/// Each name has exactly one identifier. That of a long name may have more than ``RecordName/maximumTypeLength`` bytes;
/// a schema refuses it then.
package enum NameEncoding {
    private static let mark = "_0"

    /// Returns the identifier of a table's or a column's name.
    package static func identifier(of name: String) -> String {
        guard !RecordName.isIdentifier(name.utf8) || name.utf8.starts(with: mark.utf8) else { return name }
        return name.unicodeScalars.reduce(into: mark) { identifier, scalar in
            if scalar == "_" {
                identifier += "__"
            } else if scalar.isASCII, scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) {
                identifier.unicodeScalars.append(scalar)
            } else {
                identifier += "_\(String(scalar.value, radix: 16, uppercase: true))_"
            }
        }
    }

    /// Returns the name of the table or the column that has an identifier. One that no name has stands for itself: another
    /// program may have written it.
    package static func name(of identifier: String) -> String {
        guard identifier.utf8.starts(with: mark.utf8) else { return identifier }
        var name = String.UnicodeScalarView()
        // What stands between two `_` is one character, and the other parts are as they are.
        let parts = identifier.dropFirst(mark.count).split(separator: "_", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index.isMultiple(of: 2) {
                name += part.unicodeScalars
            } else if part.isEmpty {
                name.append("_")
            } else if let scalar = UInt32(part, radix: 16).flatMap(Unicode.Scalar.init) {
                name.append(scalar)
            }
        }
        return self.identifier(of: String(name)) == identifier ? String(name) : identifier
    }
}
