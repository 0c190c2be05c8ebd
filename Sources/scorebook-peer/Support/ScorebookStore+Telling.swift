import PeerSync
import Scorebook

extension ScorebookStore {
    /// A text with a sentence of the engine about a clock, for people: with the title of the record in place of its name, and with times of
    /// this machine's time zone. Other texts stay as they are.
    func told(_ text: String) async -> String {
        guard let verb = text.firstRange(of: " was written at "),
            let type = text[..<verb.lowerBound].firstMatch(of: /[A-Za-z_][A-Za-z0-9_]*\|~\|/)
        else { return text }
        let start = type.range.lowerBound
        guard let name = try? RecordName(String(text[start..<verb.lowerBound]))
        else { return text }
        let title = (try? await phrase(for: name)) ?? "\(name)"
        let time = time
        let rest = text[verb.lowerBound...].replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/) {
            time.exactText(String($0.output))
        }
        return "\(text[..<start])\(title)\(rest)"
    }

    /// The last error with a paired machine, for people.
    func lastError(of peer: Peer) async -> String? {
        guard let error = peer.lastError else { return nil }
        return await told(error)
    }

    /// An error with which a command ends, for people.
    func told(_ error: any Error) async -> any Error {
        switch error {
        case let failure as Failure: Failure(failure.code, await told(failure.message), hint: failure.hint)
        case let error as PeerSyncError: await worded(error)
        default: error
        }
    }

    /// An event with its error for people.
    func told(_ event: SyncEvent) async -> SyncEvent {
        switch event {
        case .disconnected(let name, let error?): .disconnected(name: name, await worded(error))
        case .retrying(let address, let seconds, let error):
            .retrying(address: address, seconds: seconds, await worded(error))
        default: event
        }
    }

    private func worded(_ error: PeerSyncError) async -> PeerSyncError {
        guard error.code == .clockSkew else { return error }
        return PeerSyncError(error.code, await told(error.message), path: error.path)
    }
}
