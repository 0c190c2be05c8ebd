/// How far a typing error has led from a word.
public enum EditDistance {
    /// Returns how many letters have to be put in, left out, replaced, or exchanged with their neighbours
    /// (the optimal string alignment distance).
    static func between(_ left: some StringProtocol, _ right: some StringProtocol) -> Int {
        let (left, right) = (Array(left), Array(right))
        var before: [Int] = []
        var row = Array(0...right.count)
        for i in left.indices {
            var next = [i + 1]
            for j in right.indices {
                var distance = min(row[j] + (left[i] == right[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    distance = min(distance, before[j - 1] + 1)
                }
                next.append(distance)
            }
            (before, row) = (row, next)
        }
        return row[right.count]
    }

    /// Returns the words that a typing error may have led away from, in their order.
    public static func near(_ text: String, among words: [String]) -> [String] {
        let text = text.lowercased()
        return words.filter { between(text, $0) <= max(1, text.count / 3) }
    }
}
