import Scorebook

extension OpenStore {
    /// Asks on a terminal whether a second person or game with the same name is meant. Elsewhere warns, because a script may
    /// mean it.
    func checkIsNew(_ kind: RecordKind, _ name: String) async throws {
        guard let known = try await scorebook.namesakes(kind, name).first else { return }
        let sentence = "there is a \(kind.noun) of that name already: \(known.text)"
        guard Terminal.isInputATerminal else { return Terminal.writeError("warning: \(sentence)") }
        guard await Terminal.isConfirmed("There\(sentence.dropFirst(5)). Add another one?") else {
            throw Failure(.temporaryFailure, "nothing was added")
        }
    }
}
