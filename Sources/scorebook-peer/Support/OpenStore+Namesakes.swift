import Scorebook

extension OpenStore {
    /// Asks on a terminal whether a second person or game with the same name is meant. Elsewhere warns, because a script may
    /// mean it.
    ///
    /// - Parameter renamed: what somebody wrote for the one that gets the name; nil for a new one.
    func checkIsNew(_ kind: RecordKind, _ name: String, renamed: String? = nil) async throws {
        var namesakes = try await scorebook.namesakes(kind, name)
        if !namesakes.isEmpty, let renamed {
            let own = try await scorebook.find(kind, renamed)
            namesakes.removeAll { $0.recordName == own }
        }
        guard let known = namesakes.first else { return }
        let sentence = "there is a \(kind.noun) of that name already: \(known.text)"
        guard Terminal.isInputATerminal else { return Terminal.writeError("warning: \(sentence)") }
        let question = renamed == nil ? "Add another one?" : "Call this one the same?"
        guard await Terminal.isConfirmed("There\(sentence.dropFirst(5)). \(question)") else {
            throw Failure(.temporaryFailure, renamed == nil ? "nothing was added" : "nothing was changed")
        }
    }

    /// Says below a list which persons or games share a name, and how they become one.
    func noteSharedNames(_ kind: RecordKind, _ output: ListOptions) async throws {
        guard !output.json, !output.csv else { return }
        let groups = try await scorebook.sharedNames(kind)
        for group in groups.prefix(3) {
            let ids = group.map(\.id)
            let shown = group.prefix(5).map { "\($0.id) (\($0.detail))" }
            let more = group.count > shown.count ? " and \(group.count - shown.count) more" : ""
            Terminal.writeError(
                "note: there are \(group.count) \(Display.printable(group[0].title)): "
                    + shown.joined(separator: ", ") + more
                    + "; `\(kind.noun) merge \(ids[1]) \(ids[0])` makes them one")
        }
        if groups.count > 3 { Terminal.writeError("note: \(groups.count - 3) more names are there twice") }
    }
}
