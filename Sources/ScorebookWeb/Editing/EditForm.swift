import Foundation
import Hummingbird
import PeerSync
import Scorebook

/// A form in which somebody changes a record.
///
/// It carries what it showed (`was.NAME`) beside each field. So only the fields that somebody changed are written: two phones
/// that change different fields of one record lose nothing.
struct EditForm: Sendable {
    /// What is in the fields, by their names.
    private var values: [String: String]

    /// A form that shows a record, before anybody types.
    init(showing values: [String: String]) {
        self.values = values
        for (name, value) in values { self.values["was.\(name)"] = value }
    }

    /// A form that a browser sent.
    init(_ request: Request, _ context: PageContext) async throws {
        self.init(sent: try await request.decode(as: [String: String].self, context: context))
    }

    /// A form with the values that a browser sent.
    init(sent: [String: String]) {
        // Browsers send every line break as two characters.
        values = sent.mapValues { $0.replacing("\r\n", with: "\n") }
    }

    /// What is in a field; empty if the form has no such field, and for a box without a tick.
    subscript(_ name: String) -> String {
        get { values[name] ?? "" }
        set { values[name] = newValue }
    }

    /// What the form showed in a field; nil if it has no such field.
    func shown(_ name: String) -> String? { values["was.\(name)"] }

    /// Whether a box has a tick.
    func isTicked(_ name: String) -> Bool { !self[name].isEmpty }

    /// Whether somebody changed a field.
    func isChanged(_ name: String) -> Bool { shown(name).map { $0 != self[name] } ?? false }

    /// How many fields `NAME.0`, `NAME.1` and so on there are.
    func count(_ name: String) -> Int {
        var count = 0
        while values["\(name).\(count)"] != nil { count += 1 }
        return count
    }

    // MARK: Changes

    /// What somebody did to a text.
    func text(_ name: String) -> Change<String> {
        guard isChanged(name) else { return .keep }
        let text = self[name].trimmingCharacters(in: .whitespacesAndNewlines)
        return text.isEmpty ? .clear : .set(text)
    }

    /// What somebody did to a whole number.
    ///
    /// - Throws: ``PageError`` if there is something else.
    func whole(_ name: String) throws -> Change<Int> {
        try number(name) { Int($0) }
    }

    /// What somebody did to a number, with a point or a comma.
    ///
    /// - Throws: ``PageError`` if there is something else.
    func decimal(_ name: String) throws -> Change<Double> {
        try number(name) { text in
            // Otherwise “nan” and “0x10” would be numbers.
            guard text.wholeMatch(of: /[+-]?[0-9]{0,15}[.,]?[0-9]{1,15}/) != nil else { return nil }
            return Double(text.replacing(",", with: "."))
        }
    }

    private func number<Value>(_ name: String, _ read: (String) -> Value?) throws -> Change<Value> {
        switch text(name) {
        case .keep: return .keep
        case .clear: return .clear
        case .set(let text):
            guard let value = read(text) else {
                throw PageError(.unprocessableContent, "“\(text.prefix(100))” is no number.")
            }
            return .set(value)
        }
    }

    /// What somebody did to a box. Without a tick the value becomes unknown, as it was before anybody ticked it.
    func tick(_ name: String) -> Change<Bool> {
        guard isChanged(name) else { return .keep }
        return isTicked(name) ? .set(true) : .clear
    }
}

/// A field of an edit form, as the template shows it.
struct EditField {
    enum Kind {
        /// One line; the second text is the keyboard that a phone shows (`inputmode`).
        case line(maximum: Int, keyboard: String = "text")
        /// One line, with proposals from a list of the page.
        case proposed(list: String)
        case moment
        case lines
        case box
        case choice([(value: String, label: String)])
    }

    let name: String
    let label: String
    let kind: Kind
    var help: String?

    /// The field with what the form has in it.
    func content(_ form: EditForm) -> [String: Any] {
        let value = form[name]
        var content: [String: Any] = [
            "name": name, "label": label, "value": value, "was": form.shown(name) ?? "", "help": help.shown,
        ]
        switch kind {
        case .line(let maximum, let keyboard):
            content["was"] = Pages.oneLine(form.shown(name))
            content["line"] =
                [
                    "maximum": maximum, "keyboard": keyboard, "isShort": maximum < 100,
                    "isWide": maximum >= 1000,
                ] as [String: Any]
        case .proposed(let list):
            content["was"] = Pages.oneLine(form.shown(name))
            content["proposed"] = ["list": list]
        case .moment: content["moment"] = true
        case .lines: content["lines"] = true
        case .box: content["box"] = ["isTicked": form.isTicked(name)]
        case .choice(let choices):
            content["choice"] = [
                "options": choices.map { option in
                    [
                        "option": option.value, "text": option.label, "isChosen": option.value == value,
                    ] as [String: Any]
                }
            ]
        }
        return content
    }
}
