/// What people call a browser, from what it says of itself in `User-Agent`.
enum BrowserName {
    /// The first one whose mark is in the text counts: most browsers also claim to be those that come after them.
    private static let programs = [
        ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser", "Samsung Internet"), ("Firefox", "Firefox"),
        ("FxiOS", "Firefox"), ("CriOS", "Chrome"), ("Chrome", "Chrome"), ("Safari", "Safari"),
    ]
    private static let systems = [
        ("iPhone", "an iPhone"), ("iPad", "an iPad"), ("Android", "Android"), ("Windows", "Windows"),
        ("Mac OS", "a Mac"), ("CrOS", "a Chromebook"), ("Linux", "Linux"),
    ]

    /// Returns a name as “Firefox on Android”.
    static func text(_ userAgent: String) -> String {
        let program = programs.first { userAgent.contains($0.0) }?.1 ?? "A browser"
        let system = systems.first { userAgent.contains($0.0) }.map { " on \($0.1)" } ?? ""
        return program + system
    }
}
