/// Names in commands that people copy into a shell.
public enum ShellWord {
    private static let plain = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._:/".unicodeScalars)

    /// Returns a text as one word of a shell, in single quotes if it has anything but ASCII letters, digits and a few signs. The
    /// shell hands over exactly the text.
    public static func quoted(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.unicodeScalars.allSatisfy(plain.contains)
        guard !isPlain else { return text }
        // A backslash stands outside of the quotes, because some shells give it a meaning within them.
        let inside = text.replacingScalars(["'": "'\\''", "\\": "'\\\\'"])
        return "'\(inside)'"
    }
}
