import Foundation
import Hummingbird
import PeerSync
import Scorebook

/// The forms in which somebody changes a match, a game or a person. A slip shows the form again, with all that was typed.
extension Pages {
    func addEditing(to router: Router<PageContext>) {
        addEditing(.match, "matches", to: router, matchForm, editMatch)
        addEditing(.game, "games", to: router, gameForm, editGame)
        addEditing(.person, "people", to: router, personForm, editPerson)
    }

    /// The parts of an edit page.
    struct EditPage {
        /// What the record is called.
        let title: String
        let fields: [EditField]
        /// What the page has beside the fields.
        var content: [String: Any] = [:]
    }

    private func addEditing(
        _ kind: RecordKind, _ folder: RouterPath, to router: Router<PageContext>,
        _ form: @escaping @Sendable (RecordName) async throws -> EditForm,
        _ edit: @escaping @Sendable (RecordName, EditForm) async throws -> UUID
    ) {
        router.get("\(folder)/:id/edit") { _, context in
            let name = try record(kind, context)
            return try await editPage(kind, name, form(name), context)
        }
        router.post("\(folder)/:id/edit") { request, context in
            let name = try record(kind, context)
            let typed = try await EditForm(request, context)
            do {
                return try await saved(edit(name, typed), at: Self.path(name))
            } catch let error as PageError where error.status == .unprocessableContent {
                return try await editPage(kind, name, typed, context, slip: error)
            } catch let error as ScorebookError where PageError(error).status.code < 500 {
                return try await editPage(kind, name, typed, context, slip: PageError(error))
            }
        }
    }

    private func editPage(
        _ kind: RecordKind, _ name: RecordName, _ form: EditForm, _ context: PageContext,
        slip: PageError? = nil
    ) async throws -> Response {
        let form = kind == .match ? try await completed(form, name) : form
        let page =
            switch kind {
            case .match: try await matchPage(name, form)
            case .game: try await gamePage(name)
            default: try await personPage(name)
            }
        var content = page.content
        content["path"] = Self.path(name)
        content["noun"] = kind.noun
        content["fields"] = page.fields.map { $0.content(form) }
        content["slip"] = (slip?.message).shown
        let section = kind == .match ? "/matches" : kind == .game ? "/games" : "/people"
        return try render(
            "edit", title: "Edit \(page.title)", section: section, content, context,
            slip == nil ? .ok : .unprocessableContent)
    }

    // MARK: Persons

    private func personForm(_ name: RecordName) async throws -> EditForm {
        let person: Person = try await scorebook.record("\(name)")
        return EditForm(showing: [
            "name": person.name, "email": person.emailAddress ?? "", "bgg": person.bggUsername ?? "",
        ])
    }

    private func personPage(_ name: RecordName) async throws -> EditPage {
        let person: Person = try await scorebook.record("\(name)")
        return EditPage(
            title: Self.displayName(person.name),
            fields: [
                EditField(name: "name", label: "Name", kind: .line(maximum: 500)),
                EditField(
                    name: "email", label: "E-mail address", kind: .line(maximum: 500, keyboard: "email")),
                EditField(name: "bgg", label: "User name at BoardGameGeek", kind: .line(maximum: 500)),
            ])
    }

    private func editPerson(_ name: RecordName, _ form: EditForm) async throws -> UUID {
        let (scorebook, run) = command("person edit")
        try await scorebook.editPerson(
            "\(name)",
            PersonEdit(
                name: form.text("name"), emailAddress: form.text("email"), bggUsername: form.text("bgg")))
        return run
    }

    // MARK: Games

    private func gameForm(_ name: RecordName) async throws -> EditForm {
        let game: Game = try await scorebook.record("\(name)")
        func number(_ value: Int?) -> String { value.map { "\($0)" } ?? "" }
        return EditForm(showing: [
            "name": game.name ?? "", "least": number(game.minPlayers), "most": number(game.maxPlayers),
            "year": number(game.year), "bgg": number(game.bggID),
            "winner": game.highestWins == false ? "lowest" : "highest",
            "noPoints": game.noPoints == true ? "1" : "", "together": game.cooperative == true ? "1" : "",
            "teams": game.usesTeams == true ? "1" : "",
        ])
    }

    private func gamePage(_ name: RecordName) async throws -> EditPage {
        let game: Game = try await scorebook.record("\(name)")
        return EditPage(
            title: Self.displayName(game.name),
            fields: [
                EditField(name: "name", label: "Name", kind: .line(maximum: 500)),
                EditField(
                    name: "winner", label: "Who wins",
                    kind: .choice([("highest", "The highest score"), ("lowest", "The lowest score")])),
                EditField(
                    name: "least", label: "Players at least", kind: .line(maximum: 6, keyboard: "numeric")),
                EditField(
                    name: "most", label: "Players at most", kind: .line(maximum: 6, keyboard: "numeric")),
                EditField(name: "year", label: "Year", kind: .line(maximum: 6, keyboard: "numeric")),
                EditField(
                    name: "bgg", label: "BGG number",
                    kind: .line(maximum: 12, keyboard: "numeric")),
                EditField(name: "noPoints", label: "It is played without points", kind: .box),
                EditField(name: "together", label: "All win or lose together", kind: .box),
                EditField(name: "teams", label: "It is played in teams", kind: .box),
            ])
    }

    private func editGame(_ name: RecordName, _ form: EditForm) async throws -> UUID {
        let (scorebook, run) = command("game edit")
        var edit = GameEdit()
        edit.name = form.text("name")
        // Without a name the operation says what is wrong.
        if edit.name == .clear { edit.name = .set("") }
        edit.minPlayers = try form.whole("least")
        edit.maxPlayers = try form.whole("most")
        edit.year = try form.whole("year")
        edit.bggID = try form.whole("bgg")
        if form.isChanged("winner") { edit.highestWins = .set(form["winner"] != "lowest") }
        edit.noPoints = form.tick("noPoints")
        edit.cooperative = form.tick("together")
        edit.usesTeams = form.tick("teams")
        try await scorebook.editGame("\(name)", edit)
        return run
    }
}
