import PeerSync
import Synchronization

/// The questions of other machines that want to make one of two scorebooks, for whoever looks at the page.
public final class MeetingQuestions: Sendable {
    /// How long a machine waits for somebody who answers.
    private static let patience: Duration = .seconds(120)

    /// A question that nobody has answered yet.
    struct Open: Sendable {
        let id: Int
        let question: ZoneQuestion
        fileprivate let answer: CheckedContinuation<ZoneAnswer, Never>
    }

    private struct State {
        var open: [Open] = []
        var next = 0
        var onChange: @Sendable () -> Void = {}
    }

    private let state = Mutex(State())

    /// Makes a list without questions.
    public init() {}

    /// Asks what another machine proposes, until somebody answers, some minutes have passed, or the task is cancelled.
    ///
    /// - Returns: `nobody` for a question without a proposal: on this side nobody has to allow anything.
    public func decide(_ question: ZoneQuestion) async -> ZoneAnswer {
        guard question.proposal != nil else { return .nobody }
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        let waiting = Task {
            try? await Task.sleep(for: Self.patience)
            answer(id, .nobody)
        }
        defer { waiting.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.open.append(Open(id: id, question: question, answer: continuation)) }
                tell()
                // The cancellation may have come before the question was there.
                if Task.isCancelled { answer(id, .nobody) }
            }
        } onCancel: {
            answer(id, .nobody)
        }
    }

    /// The questions that are open now.
    var open: [Open] { state.withLock { $0.open } }

    /// Answers a question.
    ///
    /// - Returns: false if it is open no more.
    @discardableResult func answer(_ id: Int, _ answer: ZoneAnswer) -> Bool {
        let found = state.withLock { state -> Open? in
            state.open.firstIndex { $0.id == id }.map { state.open.remove(at: $0) }
        }
        guard let found else { return false }
        found.answer.resume(returning: answer)
        tell()
        return true
    }

    /// Lets a listener know when a question comes or goes.
    func whenChanged(_ onChange: @escaping @Sendable () -> Void) { state.withLock { $0.onChange = onChange } }

    private func tell() { state.withLock { $0.onChange }() }
}
