import PeerSync

/// The progress of pictures, in one line.
enum ProgressBar {
    private static let width = 20

    /// Describes the direction with more bytes left, as in “study: [#######-------------]  35 %  receiving 12
    /// pictures, 34 MB left, 4.5 MB/s, 8 s left”.
    static func text(_ name: String, receiving: AssetProgress, sending: AssetProgress) -> String {
        let isReceiving = receiving.bytesLeft >= sending.bytesLeft
        let progress = isReceiving ? receiving : sending
        let total = max(1, progress.bytes + progress.bytesLeft)
        let fraction = Double(progress.bytes) / Double(total)
        let filled = Int(fraction * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
        var text = "\(name): [\(bar)] \(Int(fraction * 100)) %  "
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
