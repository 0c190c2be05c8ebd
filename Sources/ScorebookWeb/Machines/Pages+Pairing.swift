import Foundation
import Hummingbird
import PeerSync
import Scorebook

/// Pairing: this machine shows a code, or somebody types the code that another one shows.
extension Pages {
    func addPairing(to router: Router<PageContext>) {
        router.get("machines/pair") { _, context in try await pairing(context) }
        router.post("machines/pair/show") { request, context in
            let form = try await request.decode(as: ShowForm.self, context: context)
            try await machineTools.pairing.show(for: form.welcome)
            return redirect("/machines/pair")
        }
        router.post("machines/pair/type") { request, context in
            let form = try await request.decode(as: TypeForm.self, context: context)
            let text = form.code.trimmingCharacters(in: .whitespacesAndNewlines)
            try await machineTools.pairing.call(try form.typed, text: text)
            return redirect("/machines/pair")
        }
        router.post("machines/pair/end") { _, _ in
            try await machineTools.pairing.end()
            return redirect("/machines/pair")
        }
    }

    private struct ShowForm: Decodable {
        /// read or write.
        let rights: String?
        /// The name of the only zone; empty for the default one.
        let zone: String?

        /// Without a choice, what every paired machine gets.
        var welcome: Welcome? {
            let zone = zone.flatMap { $0.isEmpty ? nil : $0 }
            guard zone != nil || rights == "read" else { return nil }
            return Welcome(rights == "read" ? .read : .write, in: zone)
        }
    }

    private struct TypeForm: Decodable {
        /// Six digits, or the text of a QR code.
        let code: String
        let address: String?

        var typed: PairingDialog.Typed {
            get throws {
                if let link = PairingLink(code.trimmingCharacters(in: .whitespacesAndNewlines)) {
                    return .link(link)
                }
                guard let code = try? PairingCode(code.filter { !$0.isWhitespace }) else {
                    throw PageError(.unprocessableContent, "A code has six digits, as 066-228.")
                }
                let place = address?.trimmingCharacters(in: .whitespaces) ?? ""
                guard !place.isEmpty else { return .code(code, at: nil) }
                guard let address = PeerAddress(place) else {
                    throw PageError(
                        .unprocessableContent, "“\(place)” is no address, as 192.168.1.20 is one.")
                }
                return .code(code, at: address)
            }
        }
    }

    private func pairing(_ context: PageContext) async throws -> Response {
        let phase = try await machineTools.pairing.phase()
        let zones = try await scorebook.records.zones.all()
        var content: [String: Any] = [
            "zones": zones.count > 1 ? zones.map { Display.printable($0.name) } : [] as [String],
            "hasZones": zones.count > 1,
        ]
        switch phase {
        case .nothing: content["isFree"] = true
        case .showing(let shown, let link, let until):
            let expires = ISO8601.text(milliseconds: until, fraction: .ifNeeded) ?? ""
            content["shown"] = [
                "code": shown.code.formatted, "until": context.reader.time(expires),
                "qr": (QRCode(link.description)?.svg(label: "The same code for a camera")).shown,
                "addresses": link.addresses.map(\.description).joined(separator: " or "),
            ]
        case .calling(let text): content["calling"] = text
        case .paired(let name):
            let peer = try await scorebook.records.peers.all().first { $0.name == name }
            content["paired"] = ["name": name, "path": peer.map(Self.path) ?? "/machines"]
            content["isFree"] = true
        case .failed(let sentence):
            content["failed"] = sentence
            content["isFree"] = true
        }
        return try render("pairing", title: "Pair a machine", section: "/machines", content, context)
    }
}
