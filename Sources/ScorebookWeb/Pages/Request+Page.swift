import Hummingbird

extension Request {
    /// Returns a value of the query; nil if there is none or it is empty, as a field that nobody filled in is.
    func query(_ name: String) -> String? {
        uri.queryParameters[name[...]].map(String.init).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether the script of the page asks, which wants to be told, and not the browser, which wants a page.
    var wantsJSON: Bool { headers[.accept] == "application/json" }
}
