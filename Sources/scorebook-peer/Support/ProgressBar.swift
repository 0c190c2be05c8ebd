import PeerSync

extension SyncEvent {
    /// Reports how many records of how many are exchanged, in the direction with more left, once that is known.
    func report(to progress: (Int, Int) -> Void) {
        guard case .progress(_, let statistics) = self else { return }
        let toCome = statistics.recordsLeftToReceive ?? 0
        let isReceiving = toCome >= statistics.recordsLeftToSend
        let left = isReceiving ? toCome : statistics.recordsLeftToSend
        let moved = isReceiving ? statistics.recordsReceived : statistics.recordsSent
        if left > 0 { progress(moved, moved + left) }
    }
}

/// The progress of records and pictures, in one line.
enum ProgressBar {
    private static let width = 20

    /// Describes the direction with more records left, as in “study: [####----------------]  20 %  receiving 1,200 of 6,014
    /// records, 4 s left”; without a bar as long as nobody knows how many are left.
    static func text(_ name: String, _ statistics: SessionStatistics) -> String {
        let (sent, received) = (statistics.recordsSent, statistics.recordsReceived)
        let toCome = statistics.recordsLeftToReceive ?? 0
        let isReceiving = toCome >= statistics.recordsLeftToSend
        let left = isReceiving ? toCome : statistics.recordsLeftToSend
        guard left > 0 else {
            return
                "\(name): \(sent.grouped) records sent, \(received.grouped) received, \(Int(statistics.seconds)) s"
        }
        let moved = isReceiving ? received : sent
        return "\(name): "
            + text(
                "\(isReceiving ? "receiving" : "sending") \(moved.grouped) of \((moved + left).grouped) records",
                done: moved, of: moved + left, seconds: statistics.seconds)
    }

    /// Describes work of which a part is done, as in “[####----------------]  20 %  importing, 4 s left”.
    ///
    /// - Parameter seconds: how long it has taken so far.
    static func text(_ what: String, done: Int, of total: Int, seconds: Double) -> String {
        let fraction = Double(done) / Double(max(1, total))
        let left = fraction > 0 ? ", \(duration(seconds / fraction * (1 - fraction))) left" : ""
        return "\(bar(fraction)) \(Int(fraction * 100)) %  \(what)\(left)"
    }

    private static func bar(_ fraction: Double) -> String {
        let filled = Int(min(1, fraction) * Double(width))
        return "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
            + "]"
    }

    /// Describes the direction with more bytes left, as in “study: [#######-------------]  35 %  receiving 12
    /// pictures, 34 MB left, 4.5 MB/s, 8 s left”.
    static func text(_ name: String, receiving: AssetProgress, sending: AssetProgress) -> String {
        let isReceiving = receiving.bytesLeft >= sending.bytesLeft
        let progress = isReceiving ? receiving : sending
        let total = max(1, progress.bytes + progress.bytesLeft)
        let fraction = Double(progress.bytes) / Double(total)
        var text = "\(name): \(bar(fraction)) \(Int(fraction * 100)) %  "
        text += "\(isReceiving ? "receiving" : "sending") \(progress.filesLeft.counted("picture"))"
        text += ", \(progress.bytesLeft.byteCount) left"
        if let seconds = progress.secondsLeft {
            text += ", \(Int64(progress.bytesPerSecond).byteCount)/s, \(duration(seconds)) left"
        }
        return text
    }

    private static func duration(_ seconds: Double) -> String {
        let whole = Int(min(seconds, 359_999).rounded(.up))
        if whole < 60 { return "\(whole) s" }
        if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
        return "\(whole / 3600) h \(whole % 3600 / 60) min"
    }
}
