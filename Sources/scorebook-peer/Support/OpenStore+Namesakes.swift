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

    /// Says below a list which persons or games share a name, and how they become one.
    func noteSharedNames(_ kind: RecordKind, _ output: ListOptions) async throws {
        guard !output.json, !output.csv else { return }
        let groups = try await scorebook.sharedNames(kind)
        for group in groups.prefix(3) {
            let ids = group.map(\.id)
            Terminal.writeError(
                "note: there are \(group.count) \(Display.printable(group[0].title)): "
                    + group.map { "\($0.id) (\($0.detail))" }.joined(separator: ", ")
                    + "; `\(kind.noun) merge \(ids[1]) \(ids[0])` makes them one")
        }
        if groups.count > 3 { Terminal.writeError("note: \(groups.count - 3) more names are there twice") }
    }
}
