import CBuildCommit

/// The version of this program, as `--version` and the package name it.
enum Version {
    /// The version of the next or of this release. scripts/package reads it here.
    static let number = "0.1.0"

    /// The version, and the commit if whoever built the program has said which: `0.1.0 (9ae1f3a)`.
    static let text = build_commit().map { "\(number) (\(String(cString: $0)))" } ?? number
}
