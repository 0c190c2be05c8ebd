import Foundation
import Hummingbird

extension Request {
    /// Returns a value of the query; nil if there is none or it is empty, as a field that nobody filled in is.
    func query(_ name: String) -> String? {
        uri.query.flatMap { Pages.value(name, in: $0) }
    }

    /// Whether the script of the page asks, which wants to be told, and not the browser, which wants a page.
    var wantsJSON: Bool { headers[.accept] == "application/json" }
}

extension Pages {
    /// Returns a value of a query as browsers write those of forms, with a plus for each blank. Hummingbird leaves the plus.
    ///
    /// - Returns: nil if there is none or it is empty. A value that is wrongly encoded stays as it is.
    static func value(_ name: String, in query: String) -> String? {
        for part in query.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, pair[0] == name else { continue }
            let text = String(pair[1]).replacing("+", with: " ")
            let value = text.removingPercentEncoding ?? text
            return value.isEmpty ? nil : value
        }
        return nil
    }
}
