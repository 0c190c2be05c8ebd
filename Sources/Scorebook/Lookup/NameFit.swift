import Foundation

/// A text that people type for a name, compared with names. Neither case nor accents count.
struct NameFit {
    /// The maximum length of a text for which ``nearness(_:)`` looks, in characters.
    private static let longest = 60

    private let text: String
    private let words: [Substring]

    init(_ text: String) {
        self.text = Self.folded(text)
        words = Self.words(self.text)
    }

    /// Whether each word of the text is a word of the name, in the same order.
    func isOfWords(_ name: String) -> Bool { follows(name) { $0 == $1 } }

    /// Whether the name begins with the text, or each word of the text begins a word of the name, in the same order.
    func isBeginning(_ name: String) -> Bool {
        !words.isEmpty && Self.folded(name).hasPrefix(text) || follows(name) { $1.hasPrefix($0) }
    }

    private func follows(_ name: String, _ fits: (Substring, Substring) -> Bool) -> Bool {
        var rest = words[...]
        for word in Self.words(Self.folded(name)) {
            guard let next = rest.first else { break }
            if fits(next, word) { rest.removeFirst() }
        }
        return rest.isEmpty && !words.isEmpty
    }

    /// Returns the distance from the name or from one of its words; nil if it is not near.
    func nearness(_ name: String) -> Int? {
        guard !words.isEmpty, text.count <= Self.longest else { return nil }
        let name = Self.folded(name)
        let limit = max(1, text.count / 3)
        return ([name[...]] + Self.words(name)).filter { abs($0.count - text.count) <= limit }
            .map { EditDistance.between(text, $0) }.filter { $0 <= limit && $0 < text.count }.min()
    }

    /// Returns a text without what does not count: case, accents and width.
    static func folded(_ text: String) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    }

    private static func words(_ text: String) -> [Substring] {
        text.split { !$0.isLetter && !$0.isNumber }
    }
}
