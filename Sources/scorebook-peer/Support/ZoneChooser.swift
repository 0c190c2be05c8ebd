import Foundation
import PeerSync
import Scorebook

/// The questions to the person at the terminal about two scorebooks that meet.
struct ZoneChooser: Sendable {
    let isJSON: Bool
    /// The unions that are allowed without a question.
    var allowed: Set<ZoneUnion> = []

    func decide(_ question: ZoneQuestion) async -> ZoneAnswer {
        if let proposal = question.proposal, allowed.contains(proposal) { return .union(proposal) }
        guard Terminal.isInputATerminal, !isJSON else { return .nobody }
        // Only one question is open at a time, so that an answer belongs to it. It is taken back when its machine has
        // gone.
        return await Self.turns.run { await ask(question) } ?? .cancel
    }

    private static let turns = Turns()

    private func ask(_ question: ZoneQuestion) async -> ZoneAnswer {
        let ours = Self.text(question.ours)
        let theirs = Self.text(question.theirs)
        let peer = Display.printable(question.peer)
        switch question.proposal {
        case .replaceListener:
            let isAllowed = await Terminal.isConfirmed(
                "\(peer) wants to replace this scorebook, \(ours), by its own, \(theirs). A backup is made first. "
                    + "Allow it?")
            return isAllowed ? .union(.replaceListener) : .cancel
        case .some(let proposal):
            let isAllowed = await Terminal.isConfirmed(
                "\(peer) wants to make one of its scorebook, \(theirs), and this one, \(ours). All its records come in here "
                    + "then, and go to every machine that shares this one. Allow it?")
            return isAllowed ? .union(proposal) : .cancel
        case nil:
            break
        }
        Terminal.writeError("This machine has \(ours); \(peer) has \(theirs).")
        guard question.ours.isShared, question.theirs.isShared else {
            return await choose(
                "[m]erge them, keep theirs [b]eside ours, take [t]heirs, take [o]urs, or [c]ancel?",
                [
                    "b": .union(.beside), "beside": .union(.beside), "m": .union(.merge),
                    "merge": .union(.merge), "t": .union(.replaceCaller),
                    "theirs": .union(.replaceCaller), "take theirs": .union(.replaceCaller),
                    "o": .union(.replaceListener), "ours": .union(.replaceListener),
                    "take ours": .union(.replaceListener),
                ])
        }
        return await choose(
            "They are different scorebooks, each shared with others already: keep theirs [b]eside ours, [m]erge "
                + "them, or [c]ancel?",
            [
                "b": .union(.beside), "beside": .union(.beside), "m": .union(.merge), "merge": .union(.merge),
            ])
    }

    /// Asks until the answer is one of the letters or words in the question.
    private func choose(_ text: String, _ answers: [String: ZoneAnswer]) async -> ZoneAnswer {
        while let line = await Terminal.answer(to: text) {
            let word = line.trimmingCharacters(in: .whitespaces).lowercased()
            if let answer = answers[word] { return answer }
            if ["c", "cancel"].contains(word) { return .cancel }
        }
        return .cancel
    }

    /// As in “a scorebook with 3,007 records, shared with others”.
    private static func text(_ side: ZoneQuestion.Side) -> String {
        "a scorebook with \(side.records.counted("record"))"
            + (side.isShared ? ", shared with others" : "")
    }
}

/// A queue that runs one piece of work at a time.
private actor Turns {
    private var last: Task<Void, Never>?

    /// - Returns: nil, at once, when the task is cancelled. Its work does not begin then, or is cancelled.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value? {
        let previous = last
        let (results, result) = AsyncStream.makeStream(of: Value.self)
        // A question is written, too.
        let task = Task(executorPreference: OutputThread.shared) {
            await previous?.value
            if !Task.isCancelled { result.yield(await body()) }
            result.finish()
        }
        last = task
        return await withTaskCancellationHandler {
            // Cancelling ends the stream, also while the work of somebody else goes on.
            await results.first { _ in true }
        } onCancel: {
            task.cancel()
        }
    }
}
