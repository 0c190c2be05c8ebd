import PeerSyncMailbox
import PeerSyncModel
import PeerSyncStore
import TestSupport

/// A machine that has a mailbox, with others that it knows without ever having met them.
package protocol MailboxUser: AnyObject, Sendable {
    var name: String { get }
    /// Its static public key.
    var key: [UInt8] { get }
    var store: RecordStore { get }
    var mailbox: Mailbox { get }
}

extension MailboxUser {
    /// Makes all machines peers of each other, with one zone, as a first session would.
    ///
    /// - Parameters:
    ///   - areMembers: whether they are introduced to the household.
    ///   - introducer: who introduces them, and is introduced by another one; nil if each machine introduces the others itself.
    ///     Then each knows introductions of its own, and those of one of them outlive a removal by another one.
    package static func pair(
        _ machines: [Self], areMembers: Bool = true, by introducer: Self? = nil
    ) async throws {
        let zone = try await machines[0].store.zones.all()[0].id
        func introduction(of machine: Self, by other: Self) -> Introduction? {
            Introduction(of: machine.key, name: machine.name, rights: .all, by: other.key, time: 1)
        }
        // All know the same one of a machine.
        let shared = introducer.map { introducer in
            machines.map { machine in
                introduction(
                    of: machine,
                    by: machine === introducer ? machines.first { $0 !== machine } ?? machine : introducer)
            }
        }
        for machine in machines {
            try await machine.store.database.write { db in
                if try machine.store.zones.find(db, zone) == nil { try machine.store.zones.adopt(db, zone) }
            }
            for (index, other) in machines.enumerated() where other !== machine {
                let known = shared?[index] ?? introduction(of: other, by: machine)
                _ = try await machine.store.peers.add(
                    key: other.key, name: other.name, introducing: areMembers ? known : nil)
            }
        }
    }

    /// Lets all machines sync until nobody has anything to put.
    package static func settle(_ machines: [Self], rounds: Int = 10) async throws {
        for _ in 0..<rounds {
            var isQuiet = true
            for machine in machines {
                let report = try await machine.mailbox.syncOnce()
                if report.hasPutHead || report.segmentsRead > 0 || report.segmentsPut > 0 { isQuiet = false }
            }
            if isQuiet { return }
        }
        throw BrokenInvariant(description: "the machines still have something to put after \(rounds) rounds")
    }
}
