import Foundation
import Hummingbird
import PeerSync

/// The browsers that may see the page, and the links that let others in.
extension Pages {
    /// - Parameter onRemoval: called when a browser has been shut out, whose connections and open pages have to hear of it.
    func addBrowsers(
        to router: Router<PageContext>, _ browsers: Browsers, _ links: EntryLinks,
        _ address: @escaping @Sendable () -> PageAddress,
        onRemoval: @escaping @Sendable (Browsers.Browser.ID) -> Void
    ) {
        router.get("browsers") { _, context in
            let all = try await browsers.all()
            let network = address().network
            return try render(
                "browsers", title: "Browsers", section: "/machines",
                [
                    "browsers": all.map { Self.line($0, context) },
                    "isInNetwork": network != nil, "fingerprint": (network?.fingerprint).shown,
                ], context)
        }
        router.post("browsers/:id/out") { _, context in
            let id = context.parameters.get("id") ?? ""
            // Somebody may press twice.
            guard try await browsers.remove(id) || Browsers.mayBeID(id) else {
                throw PageError(.notFound, "There is no such browser any more.")
            }
            onRemoval(id)
            return redirect("/browsers")
        }
        router.post("browsers/link") { request, context in
            let form = try await request.decode(as: LinkForm.self, context: context)
            guard let rights = ["all": BrowserRights.all, "guest": .guest][form.rights] else {
                throw PageError(.unprocessableContent, "A browser may do everything, or be a guest.")
            }
            let address = address()
            let link = address.link(links.make(for: rights), askedAt: request.head.authority).absoluteString
            return try render(
                "browserLink", title: rights == .guest ? "A link for a guest" : "A link for a browser",
                section: "/machines",
                [
                    "link": link, "isForGuest": rights == .guest, "isInNetwork": address.network != nil,
                    "qr": (QRCode(link)?.svg(label: "The same link for a camera")).shown,
                    "fingerprint": (address.network?.fingerprint).shown,
                ], context)
        }
    }

    private struct LinkForm: Decodable {
        /// all or guest.
        let rights: String
    }

    private static func line(_ browser: Browsers.Browser, _ context: PageContext) -> [String: Any] {
        func date(_ seconds: Int64) -> String {
            ISO8601.text(milliseconds: seconds * 1000, fraction: .ifNeeded) ?? ""
        }
        let reader = context.reader
        return [
            "id": browser.id, "name": BrowserName.text(browser.name),
            "added": reader.day(date(browser.added)),
            "seen": browser.seen > 0 ? reader.moment(date(browser.seen)) : false as Any,
            "isGuest": browser.isGuest, "isOnlyInNetwork": !browser.isLetIn,
            "isThis": browser.id == context.browser?.id,
        ]
    }
}
