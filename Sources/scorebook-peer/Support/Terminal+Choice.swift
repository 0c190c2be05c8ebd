import Foundation
import PeerSync
import Scorebook

extension Terminal {
    /// Asks which of several records is meant.
    ///
    /// - Returns: nil if nobody can answer, or wants none of them.
    static func choose(_ choice: RecordChoice) async -> RecordName? {
        guard isInputATerminal else { return nil }
        writeError("“\(Display.printable(choice.question.text))” fits several:")
        let details = Dictionary(grouping: choice.candidates) { $0.title + "\n" + $0.detail }
        let rows = choice.candidates.enumerated().map { index, candidate in
            // Two machines may have made the same; then only the id tells them apart.
            let isAlone = details[candidate.title + "\n" + candidate.detail]?.count == 1
            return [
                "  \(index + 1)", candidate.title.isEmpty ? "\(candidate.recordName)" : candidate.title,
                candidate.detail + (isAlone ? "" : ", id \(candidate.id)"),
            ]
        }
        writeError(aligned(rows))
        if choice.count > choice.candidates.count {
            writeError("  and \(choice.count - choice.candidates.count) more")
        }
        while let line = await answer(to: "Which one? (a number; Enter for none)") {
            let word = line.trimmingCharacters(in: .whitespaces)
            if word.isEmpty { return nil }
            if let number = Int(word), choice.candidates.indices.contains(number - 1) {
                return choice.candidates[number - 1].recordName
            }
        }
        return nil
    }
}
