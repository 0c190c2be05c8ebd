import Testing

@testable import ScorebookWeb

/// What somebody typed is text on a page, whatever letters stand beside its marks.
struct MarkupTextTests {
    static let marks = [
        ("<", "&lt;"), (">", "&gt;"), ("&", "&amp;"), ("\"", "&quot;"), ("'", "&#39;"),
    ]

    /// A text with a mark behind a letter that joins it, before an accent that joins it, and alone.
    private static func text(_ mark: String) -> String {
        "a\u{0D4E}\(mark)b\(mark)\u{301}c\u{0D4E}\(mark)\u{301}d\(mark)\u{200D}e\(mark)f"
    }

    @Test(arguments: MarkupTextTests.marks)
    func aMarkIsEscapedBesideEveryLetter(mark: String, safe: String) {
        #expect(MarkupText.escaped(Self.text(mark)).utf8.elementsEqual(Self.text(safe).utf8))
        #expect(MarkupText.escaped("Grüße, 🎲").utf8.elementsEqual("Grüße, 🎲".utf8))
    }

    @Test(arguments: MarkupTextTests.marks)
    func aTemplateEscapesItInItsFrameAndItsParts(mark: String, safe: String) throws {
        let (text, safe) = (Self.text(mark), Self.text(safe))
        let library = try Pages.templates()
        let page = try #require(library.render(["title": text, "message": text], withTemplate: "error"))
        #expect(page.contains("<h1>\(safe)</h1>") && page.contains("<p class=\"error\">\(safe)</p>"))
        let fact = ["name": text, "path": text, "text": text, "more": ""]
        let figures: [String: Any] = ["hasPlays": true, "about": ["facts": [fact]]]
        let game = try #require(library.render(figures, withTemplate: "game"))
        #expect(game.contains("<dt>\(safe)</dt><dd><a href=\"\(safe)\">\(safe)</a></dd>"))
    }

    @Test(arguments: MarkupTextTests.marks)
    func anImageEscapesIt(mark: String, safe: String) {
        let text = Self.text(mark)
        var image = SVGImage(label: text, height: 10)
        image.add("text", ["class": text], title: text, text: text)
        #expect(image.text.ranges(of: Self.text(safe)).count == 4)
    }
}
