import SyncModel

/// A file that is wanted of one peer, and how far it has come.
struct WantedAsset: Sendable {
    enum State: Sendable {
        /// It is in line to be opened.
        case queued(Obstacle? = nil)
        /// It is not opened before somebody wants to try it again.
        case waiting(Obstacle)
        case opening(Obstacle?)
        /// It is open, and its bytes come.
        case receiving(Progress)
        /// Its last byte is written.
        case finishing(Progress)
        /// The peer does not have it, or sent other bytes.
        case unavailable
    }

    /// Why a file could not be opened the last time. It stays so while the file is tried again: otherwise the peer would
    /// hear of more to come each time.
    enum Obstacle: Sendable, Equatable {
        /// Somebody else receives the file; so many tries in a row have found that.
        case busy(tries: Int)
        /// There is no room for this file, but there may be for others.
        case noRoom

        private static let mostTries = 8

        /// Whether it may take long. Until then the peer has to wait: whoever receives a busy file may be asking a peer that
        /// does not have it.
        var isLasting: Bool { self == .noRoom || tries >= Self.mostTries }

        var tries: Int { if case .busy(let tries) = self { tries } else { 0 } }
    }

    struct Progress: Sendable {
        /// How many bytes were there when the file was opened.
        let begin: Int64
        /// Up to where the peer was asked for bytes.
        var requested: Int64
        /// Up to where bytes are written.
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

    /// Whether the peer may expect to be asked for it soon.
    var isExpected: Bool { !isUnavailable && obstacle?.isLasting != true }
}
