import Foundation
import PeerSync

extension Asset {
    /// As in “IMG_1234.jpg (482 kB, image/jpeg)”.
    var summary: String { "\(name.isEmpty ? "unnamed" : name) (\(size.byteCount), \(mediaType))" }
}

extension AssetStatus.Count {
    /// As in “12 pictures (34 MB)”.
    var text: String { "\(files.counted("picture")) (\(bytes.byteCount))" }
}

extension Int64 {
    /// A number of bytes for people, as in “482 kB”, in powers of 1000.
    var byteCount: String {
        guard self >= 1000 else { return "\(self) byte\(self == 1 ? "" : "s")" }
        var value = Double(self)
        var unit = 0
        let units = ["bytes", "kB", "MB", "GB", "TB"]
        while value >= 999.5, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        let digits = value < 9.95 ? 1 : 0
        let style = FloatingPointFormatStyle<Double>(locale: .ofSentences).precision(.fractionLength(digits))
        return "\(value.formatted(style.grouping(.never))) \(units[unit])"
    }
}
