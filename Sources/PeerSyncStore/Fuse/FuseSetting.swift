import PeerSyncModel

/// How much of a zone may go or be overwritten within an hour before a person is asked.
public struct FuseSetting: Sendable, Hashable, CustomStringConvertible {
    /// The share of the zone's records, from 0 to 1.
    public let share: Double
    /// The least number of records: less is never asked about.
    public let records: Int

    /// A tenth of the records, and at least 50.
    public static let standard = FuseSetting(share: 0.1, records: 50)!

    /// Makes a setting.
    ///
    /// - Parameters:
    ///   - share: the share of the zone's records, from 0 to 1.
    ///   - records: the least number of records, at least 1.
    /// - Returns: nil if one of the two is out of bounds.
    public init?(share: Double, records: Int) {
        guard (0...1).contains(share), records >= 1 else { return nil }
        self.share = share
        self.records = records
    }

    /// Reads a setting from the text that ``description`` gives.
    init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let share = Double(parts[0]), let records = Int(parts[1]) else { return nil }
        self.init(share: share, records: records)
    }

    /// The share, a blank, and the number of records.
    public var description: String { "\(share) \(records)" }

    /// The most records that may go of so many without a question.
    func limit(of count: UInt64) -> Int {
        max(records - 1, Int(share * Double(min(count, 1 << 50))))
    }
}
