/// Names of scripts that are written from right to left, within sentences that are not.
enum BidiText {
    private static let firstStrong = "\u{2068}"
    private static let popIsolate = "\u{2069}"
    /// The blocks whose letters go from right to left: Hebrew to Arabic, their presentation forms, and further scripts.
    private static let blocks: [ClosedRange<UInt32>] = [
        0x590...0x8ff, 0xfb1d...0xfdff, 0xfe70...0xfeff, 0x10800...0x10fff, 0x1e800...0x1efff,
    ]

    /// Returns a name that changes nothing around it: without the marks, a browser would put the number behind a Hebrew name before it.
    static func isolated(_ name: String) -> String {
        let turns = name.unicodeScalars.contains { letter in blocks.contains { $0.contains(letter.value) } }
        return turns ? firstStrong + name + popIsolate : name
    }
}
