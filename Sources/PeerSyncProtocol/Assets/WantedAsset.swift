import PeerSyncModel

/// A file that this side wants from one peer, and its progress.
struct WantedAsset: Sendable {
    enum State: Sendable {
        /// The file is in line for this side to open it.
        case queued(Obstacle? = nil)
        /// This side opens the file only when somebody wants to try it again.
        case waiting(Obstacle)
        case opening(Obstacle?)
        /// The file is open, and its bytes come.
        case receiving(Progress)
        /// The last byte of the file is written.
        case finishing(Progress)
        /// The peer does not have the file, or sent other bytes.
        case unavailable
    }

    /// The reason why this side could not open a file the last time. It stays during the next try; otherwise each try
    /// would announce more files to the peer.
    enum Obstacle: Sendable, Equatable {
        /// Another receiver has the file, as `tries` attempts in a row have found.
        case busy(tries: Int)
        /// There is no room for this file, but there may be for others.
        case noRoom

        private static let mostTries = 8

        /// Whether the obstacle may last long. Before that the peer has to wait: the other receiver of a busy file may
        /// be asking a peer that does not have it.
        var isLasting: Bool { self == .noRoom || tries >= Self.mostTries }

        var tries: Int { if case .busy(let tries) = self { tries } else { 0 } }
    }

    struct Progress: Sendable {
        /// The number of bytes that were here when this side opened the file.
        let begin: Int64
        /// The end of the bytes that this side has requested.
        var requested: Int64
        /// The end of the bytes that this side has written.
        var written: Int64
    }

    var size: Int64
    var state = State.queued()

    var obstacle: Obstacle? {
        switch state {
        case .queued(let obstacle), .opening(let obstacle): obstacle
        case .waiting(let obstacle): obstacle
        case .receiving, .finishing, .unavailable: nil
        }
    }

    var progress: Progress? {
        switch state {
        case .receiving(let progress), .finishing(let progress): progress
        case .queued, .waiting, .opening, .unavailable: nil
        }
    }

    var isUnderWay: Bool {
        switch state {
        case .opening, .receiving, .finishing: true
        case .queued, .waiting, .unavailable: false
        }
    }

    var isQueued: Bool { if case .queued = state { true } else { false } }

    var isUnavailable: Bool { if case .unavailable = state { true } else { false } }

    /// Whether the peer may expect a request for the file soon.
    var isExpected: Bool { !isUnavailable && obstacle?.isLasting != true }
}
