import Foundation
import PeerSync
import PeerSyncModel
import PeerSyncProtocol
import TestSupport

/// Sessions in which one side has to give up its records: unions 3 and 4 of protocol.md 7.12.
extension VectorFile {
    /// Two machines that have not met, each with records and a deletion.
    private static func strangers(in folder: URL? = nil) throws -> SessionScene {
        let scene = try SessionScene(in: folder)
        try scene.kitchen.write([game("1", "Risk", at: 0, kitchen), person("2", "Grace", at: 1, kitchen)])
        try scene.kitchen.write([game("2", "Go", at: 2, kitchen, deletion: 3)])
        try scene.attic.write([game("1", "Catan", at: 4, attic), person("1", "Ada", at: 5, attic)])
        try scene.attic.write([game("3", "Chess", at: 6, attic, deletion: 7)])
        return scene
    }

    /// Two machines with one scorebook. Both have forgotten a deletion, and the attic has refused records of the
    /// kitchen.
    private static func household(in folder: URL) async throws -> SessionScene {
        let scene = try await synced(in: folder)
        try scene.kitchen.write([deletion("2", at: 1_000, kitchen)])
        try scene.attic.write([person("3", "Alan", at: 1_001, attic)])
        try await scene.session("", "")
        for machine in [scene.kitchen, scene.attic] { try machine.forgetDeletions() }
        try scene.attic.grant(.read, to: scene.kitchen)
        try scene.kitchen.write([
            year("1", 1996, at: 2_000, kitchen), person("2", "Grace", at: 2_001, kitchen),
        ])
        try await scene.session("", "")
        return scene
    }

    static func replacement() async throws -> [JSON] {
        // A machine backs its store up before it gives it up, so the stores must be files.
        let first = try await withTemporaryDirectory { folder in
            [
                try await strangers(in: folder).session(
                    "replace the caller",
                    "The caller's user gives up what the kitchen has. Its default zone becomes the listener's, its tokens "
                        + "are void, and the deletion goes, too.",
                    RecordedWish(union: .replaceCaller))
            ]
        }
        let second = try await withTemporaryDirectory { folder in
            [
                try await strangers(in: folder).session(
                    "replace the listener",
                    "The listener's user allows it. The attic's default zone becomes the caller's before it sends its open, "
                        + "which names the start token.",
                    RecordedWish(union: .replaceListener, answer: .union(.replaceListener)))
            ]
        }
        let third = try await withTemporaryDirectory { folder in
            let scene = try await household(in: folder)
            try scene.attic.write([person("4", "Barbara", at: 3_000, attic)])
            return [
                try await scene.session(
                    "replace the caller, which is one with the listener",
                    "The kitchen may only read at the attic, and the attic may write at the kitchen: that is enough. The "
                        + "kitchen has forgotten a deletion, and notes two records as refused: both notes go, as do the "
                        + "received token and the acknowledged number. The attic holds a token of the kitchen, which is void.",
                    RecordedWish(union: .replaceCaller))
            ]
        }
        let fourth = try await withTemporaryDirectory { folder in
            let scene = try await household(in: folder)
            try scene.attic.grant(.write, to: scene.kitchen)
            return [
                try await scene.session(
                    "replace the listener, which is one with the caller",
                    "The attic gives up the same zone that it gets back. The kitchen may write again, and sends what was "
                        + "refused under new numbers.",
                    RecordedWish(union: .replaceListener, answer: .union(.replaceListener)))
            ]
        }
        return first + second + third + fourth
    }

    /// Sessions in which one side says no, so that nothing changes.
    static func refusedReplacement() async throws -> [JSON] {
        var cases: [JSON] = []
        for (title, why, answer) in [
            (
                "replace the listener, which nobody allows", "Nobody is at the attic to be asked.",
                ZoneAnswer.nobody
            ),
            ("replace the listener, whose user says no", "The listener's user does not allow it.", .cancel),
        ] {
            let wish = RecordedWish(union: .replaceListener, answer: answer)
            cases.append(try await strangers().session(title, why, wish, endsWith: .declined))
        }
        for (title, why, union, rights) in [
            (
                "replace the caller, at which the listener may only read",
                "The listener may not give the kitchen anything, so the kitchen does not give up what it has.",
                ZoneUnion.replaceCaller, ZoneRights.read
            ),
            (
                "replace the caller, which does not offer its default zone",
                "The default zones do not meet.", .replaceCaller, .none
            ),
            (
                "replace the listener, which is not offered the caller's default zone",
                "The default zones do not meet.", .replaceListener, .none
            ),
        ] {
            let scene = try strangers()
            try scene.kitchen.grant(rights, to: scene.attic)
            cases.append(
                try await scene.session(title, why, RecordedWish(union: union), endsWith: .notPermitted))
        }
        let scene = try strangers()
        try scene.attic.grant(.read, to: scene.kitchen)
        cases.append(
            try await scene.session(
                "replace the listener, at which the caller may only read",
                "The caller may not give the attic anything.",
                RecordedWish(union: .replaceListener, answer: .union(.replaceListener)),
                endsWith: .notPermitted))
        return cases + [try await callerHasTheZoneBeside(), try await listenerHasTheZoneBeside()]
    }

    private static func callerHasTheZoneBeside() async throws -> JSON {
        let scene = try strangers()
        try await scene.session("", "", RecordedWish(union: .beside))
        try scene.takeBack(at: scene.kitchen)
        return try await scene.session(
            "replace the caller, which has the zone beside its own",
            "The kitchen has taken up the listener's default zone, and does not let the attic have it any more. No store has "
                + "one zone twice, so its default zone cannot become that one.",
            RecordedWish(union: .replaceCaller), endsWith: .notPermitted)
    }

    private static func listenerHasTheZoneBeside() async throws -> JSON {
        let scene = try strangers()
        try await scene.callFromAttic(RecordedWish(union: .beside))
        try scene.takeBack(at: scene.attic)
        return try await scene.session(
            "replace the listener, which has the zone beside its own",
            "As before, the other way round. The caller cannot know, so it is the listener that says no, although its user "
                + "has allowed it.",
            RecordedWish(union: .replaceListener, answer: .union(.replaceListener)), endsWith: .notPermitted)
    }
}

extension SessionScene {
    /// Withdraws from the other machine the zone that stands beside a machine's own, and grants it the machine's own
    /// zone again.
    fileprivate func takeBack(at machine: SessionMachine) throws {
        let other = machine === kitchen ? attic : kitchen
        let peer = try machine.peer(other)
        let further = try machine.zones()[1]
        try machine.write { try machine.store.zones.setRights($0, .none, to: peer, in: further) }
        try machine.grant(.write, to: other)
    }
}
