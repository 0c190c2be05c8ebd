import Foundation
import Hummingbird
import PeerSync
import Scorebook

/// One machine: its name here, what it may do, and how to forget it.
extension Pages {
    func addMachine(to router: Router<PageContext>) {
        router.get("machine/:key") { _, context in try await machine(context) }
        router.post("machine/:key/name") { request, context in
            let form = try await request.decode(as: NameForm.self, context: context)
            let name = form.name.trimmingCharacters(in: .whitespacesAndNewlines)
            guard (1...64).contains(name.utf8.count) else {
                throw PageError(.unprocessableContent, "A name has 1 to 64 bytes.")
            }
            let peer = try await peer(context)
            try await scorebook.records.peers.rename(peer.key, to: name)
            return redirect(Self.path(peer))
        }
        router.post("machine/:key/rights") { request, context in
            let form = try await request.decode(as: RightsForm.self, context: context)
            guard let rights = Self.rights.first(where: { $0.word == form.rights })?.rights else {
                throw PageError(
                    .unprocessableContent, "A machine may change everything, only read, or see nothing.")
            }
            let peer = try await peer(context)
            try await scorebook.records.zones.grant(rights, to: peer.key, in: form.zone)
            return redirect(Self.path(peer))
        }
        router.post("machine/:key/meet") { request, context in try await meet(request, context) }
        router.post("machine/:key/forget") { request, context in try await forget(request, context) }
    }

    private struct NameForm: Decodable { let name: String }

    private struct RightsForm: Decodable {
        let zone: String
        /// write, read or none.
        let rights: String
    }

    private struct MeetForm: Decodable {
        /// merge, beside or theirs.
        let union: String
    }

    private struct ForgetForm: Decodable {
        /// 1 for all machines of the household.
        let everywhere: String?
    }

    private static let rights: [(word: String, rights: ZoneRights, text: String)] = [
        ("write", .write, "read and write"), ("read", .read, "only read"), ("none", .none, "see nothing"),
    ]

    /// Returns the machine whose key is the last part of the path.
    private func peer(_ context: PageContext) async throws -> Peer {
        let key = context.parameters.get("key") ?? ""
        guard let peer = try await scorebook.records.peers.all().first(where: { $0.key == key }) else {
            throw PageError(.notFound, "There is no such machine any more.")
        }
        return peer
    }

    private func machine(_ context: PageContext) async throws -> Response {
        let peer = try await peer(context)
        let words = MachineWords(status: try await status(), reader: context.reader)
        let records = scorebook.records
        let (grants, member, introducer) = try await records.database.read { db in
            (
                try records.zones.grants(db, to: peer),
                try records.household.members(db).first { $0.publicKey == peer.publicKey },
                try peer.introducedBy.map { try records.household.name(db, of: $0) }
            )
        }
        let (kind, text) = words.state(peer)
        let areSeveral = grants.count > 1
        return try render(
            "machine", title: peer.name, section: "/machines",
            [
                "path": Self.path(peer), "name": peer.name, "kind": kind, "state": text,
                "details": (words.waiting(peer).map { [$0] } ?? []) + words.limits(peer),
                "paired": context.reader.moment(peer.pairedAt), "address": peer.address.shown,
                "introducer": introducer.shown, "key": peer.key.prefix(16).chunked(by: 4),
                "isMember": member != nil,
                "isApart": [.differentZones, .notAllowed].contains(peer.lastErrorCode),
                "zones": grants.enumerated().map { number, grant in
                    [
                        "number": number, "zone": grant.zone, "several": areSeveral,
                        "choices": Self.rights.map {
                            ["word": $0.word, "text": $0.text, "isChosen": $0.rights == grant.rights]
                                as [String: Any]
                        },
                    ] as [String: Any]
                },
            ], context)
    }

    /// Lets two machines with different scorebooks meet again, and says what becomes of the scorebooks.
    private func meet(_ request: Request, _ context: PageContext) async throws -> Response {
        let form = try await request.decode(as: MeetForm.self, context: context)
        guard let union = ["merge": ZoneUnion.merge, "beside": .beside, "theirs": .replaceCaller][form.union]
        else {
            throw PageError(
                .unprocessableContent, "Two scorebooks become one, stay beside each other, or one gives way.")
        }
        let peer = try await peer(context)
        try await machineTools.pairing.meet(peer, union)
        return redirect("/machines/pair")
    }

    private func forget(_ request: Request, _ context: PageContext) async throws -> Response {
        let form = try await request.decode(as: ForgetForm.self, context: context)
        let peer = try await peer(context)
        if form.everywhere == "1" {
            let own = machineTools.machines.engine.identity.publicKey.bytes
            _ = try await scorebook.records.household.remove(peer.key, by: own)
        } else {
            try await scorebook.records.peers.forget(peer.key)
        }
        return redirect("/machines")
    }
}

extension Substring {
    /// The text in groups, for people to compare.
    fileprivate func chunked(by size: Int) -> String {
        stride(from: 0, to: count, by: size).map { dropFirst($0).prefix(size) }.joined(separator: " ")
    }
}
