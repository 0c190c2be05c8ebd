import Foundation
import Hummingbird
import PeerSync
import Scorebook

/// Who is here, what waits and why, and what this machine does.
extension Pages {
    /// How many held, refused or unsynced records the page names.
    private static let named = 20

    func addMachines(to router: Router<PageContext>) {
        router.get("machines") { _, context in try await machines(context) }
        router.post("machines/sync") { request, context in
            let form = try await request.decode(as: SwitchForm.self, context: context)
            try await scorebook.records.settings.setSyncOn(form.on == "1")
            return redirect("/machines")
        }
        router.post("machines/pictures") { request, context in
            let form = try await request.decode(as: PicturesForm.self, context: context)
            try await scorebook.records.assets.setPolicy(try form.chosen)
            return redirect("/machines")
        }
        router.post("machines/questions/:id") { request, context in
            let form = try await request.decode(as: AnswerForm.self, context: context)
            try answer(context.parameters.get("id", as: Int.self), isAllowed: form.allow == "1")
            return redirect("/machines")
        }
        addMailboxes(to: router)
        router.get("machines/doctor") { _, context in try await doctor(context) }
    }

    private struct SwitchForm: Decodable {
        /// 1 or 0.
        let on: String
    }

    private struct AnswerForm: Decodable {
        /// 1 or 0.
        let allow: String
    }

    private struct PicturesForm: Decodable {
        /// all, none or under.
        let policy: String
        /// With under: megabytes.
        let size: String?

        var chosen: AssetPolicy {
            get throws {
                guard let chosen = AssetPolicy(policy == "under" ? "under \(size ?? "")MB" : policy) else {
                    throw PageError(
                        .unprocessableContent, "Say how large a picture may be, as a number of megabytes.")
                }
                return chosen
            }
        }
    }

    /// Reads what the engine says of this scorebook, with all that other programs wrote.
    func status() async throws -> StoreStatus {
        try await scorebook.foldForReading()
        let records = scorebook.records
        return try await records.database.read { try records.status($0) }
    }

    private func machines(_ context: PageContext) async throws -> Response {
        let reader = context.reader
        let status = try await status()
        let words = MachineWords(status: status, reader: reader)
        let found = machineTools.found.current
        let pictures = try await scorebook.records.assets.status()
        let mailboxes = try await machineTools.machines.mailboxes.all()
        let lastHeard = mailboxes.lastHeard
        let content: [String: Any] = [
            "summary": words.summary, "isOn": status.isSyncOn,
            "trouble": try await trouble(status).shown,
            "questions": machineTools.machines.questions.open.map { Self.line($0, reader) },
            "zones": try await zones(status),
            "alarms": alarms(status, reader),
            "own": machineTools.machines.engine.displayName,
            "peers": status.peers.map { Self.line($0, words, found, lastHeard[$0.name]) },
            "found": found.filter { $0.peer == nil }.map {
                ["place": $0.addresses.first?.description ?? "", "showsCode": $0.showsCode] as [String: Any]
            },
            "hasFound": found.contains { $0.peer == nil },
            "held": try await held(status),
            "heldCount": status.held > Self.named ? reader.number(status.held) : false as Any,
            "refused": try await refused(status), "unsynced": unsynced(status),
            "hasMailboxes": !mailboxes.isEmpty, "mailboxes": mailboxes.map { Self.lines($0, reader) },
            "waits": status.held > 0 || !status.refused.isEmpty || !status.unsynced.isEmpty,
        ]
        return try render(
            "machines", title: "Machines", section: "/machines",
            content.merging(Self.content(pictures, reader)) { one, _ in one }, context)
    }

    /// What keeps all machines from this one; nil if nothing does.
    private func trouble(_ status: StoreStatus) async throws -> String? {
        if StoreClock.isTooFarAhead(status.clockAhead) {
            return "The clock of this machine was wrong: it wrote into the future. Look for faults below."
        }
        if let machine = status.awaitedCopy {
            return
                "The scorebook of \(machine) took the place of the one here, and may not have come whole. Whatever is missing comes when "
                + "the two sync."
        }
        guard !machineTools.machines.isSyncing,
            try await scorebook.records.pairing.listeningPorts().isEmpty
        else { return nil }
        return
            "This page runs without sync, so nothing comes and goes now. Whoever started it can run "
            + "“scorebook-peer listen --web” in its place."
    }

    private static func line(
        _ peer: Peer, _ words: MachineWords, _ found: [FoundMachine], _ heard: String?
    ) -> [String: Any] {
        let (kind, text) = words.state(peer)
        var details = words.waiting(peer).map { [$0] } ?? []
        details += words.limits(peer)
        if !peer.isConnected, found.contains(where: { $0.peer == peer.name }) {
            details.append("It is on this network.")
        }
        if let heard {
            details.append("Last heard of through a mailbox on \(words.reader.moment(heard)).")
        }
        return [
            "path": path(peer), "name": peer.name, "kind": kind, "state": text, "details": details,
        ]
    }

    // MARK: Questions of other machines

    private static func line(_ open: MeetingQuestions.Open, _ reader: Reader) -> [String: Any] {
        func text(_ side: ZoneQuestion.Side) -> String {
            "\(reader.number(side.records)) \(side.records == 1 ? "record" : "records")"
        }
        let (ours, theirs) = (text(open.question.ours), text(open.question.theirs))
        return [
            "id": open.id,
            "text": open.question.proposal == .replaceListener
                ? "\(open.question.peer) wants to replace the scorebook here (\(ours)) by its own (\(theirs)). A backup is made first."
                : "\(open.question.peer) wants to make one of its scorebook (\(theirs)) and the one here (\(ours))."
                ,
        ]
    }

    private func answer(_ id: Int?, isAllowed: Bool) throws {
        let questions = machineTools.machines.questions
        guard let open = questions.open.first(where: { $0.id == id }),
            let proposal = open.question.proposal,
            questions.answer(open.id, isAllowed ? .union(proposal) : .cancel)
        else { throw PageError(.notFound, "The other machine has gone, or somebody else has answered it.") }
    }

    // MARK: One line for each

    /// The path of a machine's page.
    static func path(_ peer: Peer) -> String { "/machine/\(peer.key)" }

    private static func content(_ pictures: AssetStatus, _ reader: Reader) -> [String: Any] {
        var size = "5"
        if case .under(let limit) = pictures.policy { size = "\(max(1, limit / 1_000_000))" }
        let choice: [String: Any] = [
            "size": size, "isAll": pictures.policy == .all, "isNone": pictures.policy == .none,
            "isUnder": pictures.policy != .all && pictures.policy != .none,
        ]
        guard pictures.referred.files > 0 else {
            return choice.merging(["pictures": "No pictures yet."]) { one, _ in one }
        }
        var parts = [
            "\(reader.number(pictures.referred.files)) in this scorebook (\(reader.bytes(pictures.referred.bytes)))"
        ]
        if pictures.missing.files > 0 {
            parts.append(
                "\(reader.number(pictures.missing.files)) to come (\(reader.bytes(pictures.missing.bytes)))")
        }
        if pictures.unstored.files > 0 {
            parts.append(
                "\(reader.number(pictures.unstored.files)) without a file yet (\(reader.bytes(pictures.unstored.bytes)))"
            )
        }
        if pictures.excluded.files > 0 {
            parts.append(
                "\(reader.number(pictures.excluded.files)) left on other machines (\(reader.bytes(pictures.excluded.bytes)))"
            )
        }
        return choice.merging(["pictures": parts.joined(separator: ", ") + "."]) { one, _ in one }
    }

    // MARK: What does not go its way

    private func held(_ status: StoreStatus) async throws -> [String] {
        var lines: [String] = []
        for entry in status.heldRecords.prefix(Self.named) {
            guard let reason = entry.waitsFor else { continue }
            let waitsFor = try await MachineWords.waitsFor(reason) { try await scorebook.phrase(for: $0) }
            lines.append("\(try await phrase(entry.name)) waits for \(waitsFor).")
        }
        return lines
    }

    private func refused(_ status: StoreStatus) async throws -> [String] {
        let groups = Dictionary(grouping: status.refused) { [$0.peer, $0.zone, $0.reason.description] }
        var lines: [String] = []
        for (_, records) in groups.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }).prefix(Self.named)
        {
            let first = records[0]
            let what = try await scorebook.phrase(for: first.name)
            let more = records.count > 1 ? " and \(records.count - 1) more" : ""
            lines.append("\(first.peer) has refused \(what)\(more), \(MachineWords.refusal(first.reason)).")
        }
        return lines
    }

    private func unsynced(_ status: StoreStatus) -> [String] {
        status.unsynced.prefix(Self.named).map {
            "“\($0.name)” of \($0.table) \(MachineWords.fate($0.reason))."
        }
    }

    private func phrase(_ name: String) async throws -> String {
        guard let record = try? RecordName(name) else { return name }
        return try await scorebook.phrase(for: record)
    }

    // MARK: Faults

    private func doctor(_ context: PageContext) async throws -> Response {
        let findings = try await machineTools.machines.examine()
        let words: [Finding.Severity: String] = [
            .fine: "Good", .warning: "Look at this", .problem: "Problem",
        ]
        let kinds: [Finding.Severity: String] = [.fine: "good", .warning: "waits", .problem: "bad"]
        return try render(
            "findings", title: "Faults", section: "/machines",
            [
                "findings": findings.map {
                    [
                        "kind": kinds[$0.severity] ?? "", "word": words[$0.severity] ?? "",
                        "parts": Self.parts($0.text + "."),
                    ] as [String: Any]
                },
                "isWell": !findings.contains { $0.severity == .problem },
            ], context)
    }

    /// Returns a text in parts: what stands between backticks is what somebody types.
    static func parts(_ text: String) -> [[String: Any]] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { number, part in
            [
                "plain": number.isMultiple(of: 2) ? part : "",
                "literal": number.isMultiple(of: 2) ? false : part as Any,
            ]
        }
    }
}
