import Foundation
import Hummingbird
import PeerSync
import Scorebook

/// The zones: the parts of the scorebook that only some machines have. The page of a machine says what it may do in each.
extension Pages {
    func addZones(to router: Router<PageContext>) {
        router.post("machines/zones") { request, context in
            let form = try await request.decode(as: ZoneForm.self, context: context)
            _ = try await scorebook.records.zones.create(form.name.trimmingCharacters(in: .whitespaces))
            return redirect("/machines#zones")
        }
    }

    private struct ZoneForm: Decodable { let name: String }

    /// Each zone, and the other machines that may see it. Nothing as long as there is one zone, which all machines have.
    func zones(_ status: StoreStatus) async throws -> [[String: Any]] {
        let records = scorebook.records
        let (zones, grants) = try await records.database.read { db in
            (
                try records.zones.all(db),
                try status.peers.map { (peer: $0, grants: try records.zones.grants(db, to: $0)) }
            )
        }
        guard zones.count > 1 else { return [] }
        return zones.map { zone in
            let machines = grants.compactMap { peer, grants -> [String: Any]? in
                guard let grant = grants.first(where: { $0.zone == zone.name }), grant.rights != .none else {
                    return nil
                }
                return [
                    "path": Self.path(peer), "name": peer.name,
                    "may": grant.rights == .write ? "may read and write" : "may only read",
                ]
            }
            return ["name": zone.name, "machines": machines, "isAlone": machines.isEmpty]
        }
    }
}
