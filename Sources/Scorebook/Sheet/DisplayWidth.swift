/// The look of texts on a terminal.
///
/// Names come from other machines. So `printable` replaces every character that could move the cursor, change colours
/// or turn the direction of writing.
public enum Display {
    /// Replaces each control character by `�`.
    public static func printable(_ text: some StringProtocol) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            result.append(isDangerous(scalar) ? "\u{FFFD}" : scalar)
        }
        return String(result)
    }

    /// Writes escapes of JSON in place of the characters of a JSON text that ``printable(_:)`` replaces and JSON does not escape by itself. It
    /// says the same then.
    public static func printable(json text: String) -> String {
        guard text.utf8.contains(where: { $0 >= 0x7F }) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar.value >= 0x7F, isDangerous(scalar) {
                result += jsonEscape(scalar).unicodeScalars
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// Returns the escape of JSON for a scalar below U+10000.
    static func jsonEscape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    /// Returns the number of columns of a text: two for wide East Asian characters and emoji, none for combining
    /// marks.
    public static func width(_ text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + width($1) }
    }

    /// Pads a text with blanks to a number of columns.
    public static func padded(_ text: String, to columns: Int, isRight: Bool) -> String {
        let blanks = String(repeating: " ", count: max(0, columns - width(text)))
        return isRight ? blanks + text : text + blanks
    }

    /// Shortens a text to a number of columns, with `…` at its end if something is cut off.
    public static func shortened(_ text: String, to columns: Int) -> String {
        guard width(text) > columns else { return text }
        var (result, width) = ("", 0)
        for character in text {
            width += Self.width(character)
            guard width < columns else { break }
            result.append(character)
        }
        return result + "…"
    }

    private static func width(_ character: Character) -> Int {
        character.unicodeScalars.reduce(0) { max($0, width($1)) }
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        if scalar.properties.isEmojiPresentation { return 2 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// The blocks that are wide or fullwidth in Unicode's East Asian Width (UAX 11).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
        0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]

    static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Control characters; line and paragraph separators, and the controls of the direction of writing.
        case 0...0x1F, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
