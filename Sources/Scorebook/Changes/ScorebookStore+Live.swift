import GRDB
import PeerSync

extension ScorebookStore {
    /// A new stream that tells each time that something may have changed, whoever wrote it: this program, a session with
    /// another machine, or another program. Changes that come while the reader is busy are told as one. The first look tells
    /// as well, so that nothing is missed that was written before it.
    ///
    /// - Parameter interval: the time between two looks for what other programs wrote. What this program writes is told
    ///   at once.
    public func changes(lookingEvery interval: Duration = .milliseconds(250)) -> AsyncStream<Void> {
        let (stream, changed) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let database = records.database
        let observation = DatabaseRegionObservation(tracking: .fullDatabase).start(in: database) { _ in
            changed.finish()
        } onChange: { _ in
            changed.yield()
        }
        let looking = Task {
            var version: Int?
            while !Task.isCancelled {
                // Its value changes with each commit of another connection than this one, which alone writes here.
                let now = try? await database.writeWithoutTransaction {
                    try Int.fetchOne($0, sql: "PRAGMA data_version")
                }
                if let now, now != version {
                    changed.yield()
                    version = now
                }
                try? await Task.sleep(for: interval)
            }
        }
        changed.onTermination = { _ in
            observation.cancel()
            looking.cancel()
        }
        return stream
    }
}
