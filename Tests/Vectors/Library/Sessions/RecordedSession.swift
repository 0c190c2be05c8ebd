import PeerSyncModel
import PeerSyncProtocol

/// A session of two paired machines over a line that delivers each message at once, in the order of sending. So every
/// run gives the same session.
///
/// The session and the stores are the program's own. This type is the line between them, and ``RecordedSide`` does the
/// work of the program's tasks.
package final class RecordedSession {
    package enum Entry {
        /// - Parameter on: the entry that caused this message; nil if none did.
        case message(isFromCaller: Bool, on: Int?, Message)
        case writes(isAtCaller: Bool, [RecordState])
    }

    package private(set) var entries: [Entry] = []
    private let caller: SessionMachine
    private let listener: SessionMachine
    private let tokens: SessionTokens?
    private var underWay: [(isFromCaller: Bool, entry: Int, message: Message)] = []
    /// The entry that a side is processing.
    private var cause: Int?
    /// The error that one side has told the other.
    private var failure: ProtocolError?

    /// - Parameter tokens: the names of the generations in the entries; without it the generations stay as the stores
    ///   drew them.
    package init(_ caller: SessionMachine, _ listener: SessionMachine, _ tokens: SessionTokens? = nil) throws
    {
        (self.caller, self.listener, self.tokens) = (caller, listener, tokens)
        for (one, other) in [(caller, listener), (listener, caller)] { _ = try one.peer(other) }
    }

    /// Runs the session to the goodbyes.
    ///
    /// - Throws: the error that one side tells the other, if an error ends the session.
    package func run(_ wish: RecordedWish = RecordedWish(), _ steps: [SessionStep] = []) async throws {
        let called = try RecordedSide(caller, wish.call, answer: .nobody) { [unowned self] in
            try post($0, isFromCaller: true)
        }
        let answering = try RecordedSide(listener, .answer, answer: wish.answer) { [unowned self] in
            try post($0, isFromCaller: false)
        }
        let sides = (caller: called, listener: answering)
        try await sides.listener.begin(with: caller)
        try await sides.caller.begin(with: listener)
        try await deliver(to: sides)
        for step in steps {
            cause = entries.count
            entries.append(.writes(isAtCaller: step.isAtCaller, step.writes))
            try await (step.isAtCaller ? sides.caller : sides.listener).write(step.writes)
            try await deliver(to: sides)
        }
        precondition(sides.caller.isInSync && sides.listener.isInSync, "the two are not in sync")
        cause = nil
        try await sides.caller.stop()
        try await deliver(to: sides)
    }

    private func post(_ message: Message, isFromCaller: Bool) throws {
        for machine in [caller, listener] { try tokens?.look(at: machine) }
        underWay.append((isFromCaller, entries.count, message))
        if case .error(let error) = message { failure = error }
        entries.append(
            .message(isFromCaller: isFromCaller, on: cause, tokens?.renamed(message) ?? message))
    }

    /// Delivers the messages on the line and their answers, until none is left.
    private func deliver(to sides: (caller: RecordedSide, listener: RecordedSide)) async throws {
        while !underWay.isEmpty {
            let next = underWay.removeFirst()
            cause = next.entry
            try await (next.isFromCaller ? sides.listener : sides.caller).receive(next.message)
        }
        if let failure { throw failure }
    }
}
