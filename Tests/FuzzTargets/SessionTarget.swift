/// The machines of a session. Whoever is at the other end, they throw nothing but `ProtocolError`, do a bounded number of
/// things for each message, and come to rest; and with an honest one they reach what they are for.
enum SessionTarget {
    static let modes = 8

    static func run(_ mode: Int, _ input: inout FuzzInput) throws {
        switch mode {
        case 0, 1: try ZoneTarget.hostile(&input)
        case 2, 3, 4: try ZoneTarget.honest(&input)
        case 5: try AssetTarget.hostile(&input)
        case 6: try AssetTarget.honest(&input)
        default: try MeetingTarget.run(&input)
        }
    }
}
