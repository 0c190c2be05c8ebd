import Testing

@testable import ScorebookWeb

/// The queries of pages: what browsers write, and what the page writes.
struct QueryTests {
    @Test(arguments: [
        ("Ticket+to+Ride", "Ticket to Ride"), ("C%2B%2B+%26+d%3De", "C++ & d=e"), ("a=b", "a=b"),
        ("K%C3%B6ln%20", "Köln "),
        // Somebody wrote these.
        ("100%+more", "100% more"), ("%FF", "%FF"), ("%4", "%4"),
    ])
    func aValueIsWhatSomebodyTyped(query: String, text: String) {
        #expect(Pages.value("game", in: "isNew=1&game=\(query)&game=other") == text)
    }

    @Test(arguments: ["", "game", "game=", "agame=1", "&&=x"])
    func anEmptyFieldHasNoValue(query: String) {
        #expect(Pages.value("game", in: query) == nil)
    }

    @Test func whatThePageWritesItReads() {
        let text = "C++ & d=e, 100 % Köln#?"
        let path = Pages.path("/games", [("none", nil), ("text", text), ("page", "2")])
        #expect(path.hasPrefix("/games?text=C%2B%2B%20%26"))
        let query = String(path.dropFirst("/games?".count))
        #expect(Pages.value("text", in: query) == text && Pages.value("page", in: query) == "2")
        #expect(Pages.path("/statistics", [("year", nil)]) == "/statistics")
        let notice = Notice(.saved, path: "/games/a%2Bb").on("/games/a%2Bb")
        #expect(notice == "/games/a%2Bb?done=saved&to=%2Fgames%2Fa%252Bb")
    }
}
