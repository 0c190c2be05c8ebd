import Foundation
import Scorebook
import Testing

@testable import ScorebookWeb

/// What the form of an edit page says that somebody changed.
struct EditFormTests {
    /// A form as a browser sends it back: what it showed, and what somebody made of it.
    private func form(_ shown: [String: String], _ typed: [String: String?]) -> EditForm {
        var values = shown
        for (name, value) in shown { values["was.\(name)"] = value }
        for (name, value) in typed { values[name] = value }
        return EditForm(sent: values)
    }

    @Test func whatNobodyTouchedStays() throws {
        let form = form(["place": "Kitchen", "notes": "One\nTwo", "minutes": "", "ignored": "1"], [:])
        #expect(form.text("place") == .keep && form.text("notes") == .keep)
        #expect(try form.whole("minutes") == .keep)
        #expect(form.tick("ignored") == .keep)
        // A form of an older page has no such field.
        #expect(form.text("board") == .keep && form.tick("unfinished") == .keep)
    }

    /// Browsers send each line break as two characters, whatever the page had.
    @Test func lineBreaksAreNoChange() {
        #expect(form(["notes": "One\nTwo"], ["notes": "One\r\nTwo"]).text("notes") == .keep)
        #expect(
            form(["notes": "One\nTwo"], ["notes": "One\r\nTwo\r\nThree"]).text("notes")
                == .set("One\nTwo\nThree"))
    }

    /// A browser's field of one line drops them.
    @Test func aLineBreakInOneLineIsNoChange() {
        for kind in [EditField.Kind.line(maximum: 500), .proposed(list: "games")] {
            let content = EditField(name: "place", label: "Place", kind: kind)
                .content(EditForm(showing: ["place": "Kitchen\nor\r\nStudy"]))
            let was = content["was"] as? String ?? ""
            #expect(EditForm(sent: ["was.place": was, "place": "KitchenorStudy"]).text("place") == .keep)
        }
        #expect(Pages.oneLine("The\nreds") == "Thereds" && Pages.oneLine(nil) == "")
    }

    /// Otherwise saving would clear a date that a browser's field does not take.
    @Test func aDateOfTheYearZeroIsNotShown() {
        let time = LocalTime(zone: .gmt, now: 0)
        #expect(time.field("0000-05-06T07:08:09Z") == nil)
        #expect(time.field("0001-05-06T07:08:09Z") == "0001-05-06T07:08")
    }

    @Test func whatSomebodyTypedIsAChange() throws {
        let form = form(
            [
                "place": "Kitchen", "board": "Africa", "minutes": "45", "rating": "", "ignored": "1",
                "over": "",
            ],
            ["place": " Study ", "board": "  ", "minutes": "", "rating": "7,5", "ignored": nil, "over": "1"])
        #expect(form.text("place") == .set("Study"))
        #expect(form.text("board") == .clear)
        #expect(try form.whole("minutes") == .clear)
        #expect(try form.decimal("rating") == .set(7.5))
        #expect(form.tick("ignored") == .clear && form.tick("over") == .set(true))
    }

    @Test(arguments: ["soon", "1e999", "nan", "0x10", "7.5.1", "１２", "--1"])
    func aNumberThatIsNoneIsTold(text: String) {
        let form = form(["minutes": "", "rating": ""], ["minutes": text, "rating": text])
        #expect(throws: PageError.self) { try form.whole("minutes") }
        #expect(throws: PageError.self) { try form.decimal("rating") }
    }

    @Test func numberedFieldsAreCounted() {
        #expect(form(["player.0": "a", "player.1": "b", "player.3": "d"], [:]).count("player") == 2)
        #expect(form([:], [:]).count("player") == 0)
    }

    @Test(arguments: [
        ("/", true), ("/matches/01a2-b", true), ("/people/a%20b", true), ("//evil.example", false),
        ("https://evil.example", false), ("/\\evil.example", false), ("", false), ("/a?b", false),
        ("/a\r\nSet-Cookie: x", false), ("/matches/", false),
    ])
    func aWayBackLeadsToAPageOfOurs(path: String, isOwn: Bool) {
        #expect(Notice.isOwn(path) == isOwn)
    }
}
