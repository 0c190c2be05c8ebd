/// Whole sessions, and the exchange of files alone. Whoever is at the other end, they ask for each thing in its turn, do a
/// bounded number of things for each message, come to rest and end once; and with an honest one they reach what they are
/// for.
enum SessionTarget {
    static let modes = 8

    static func run(_ mode: Int, _ input: inout FuzzInput) throws {
        switch mode {
        case 0, 1: try ConversationTarget.hostile(&input)
        case 2, 3, 4: try ConversationTarget.honest(&input)
        case 5: try AssetTarget.hostile(&input)
        case 6: try AssetTarget.honest(&input)
        default: try MeetingTarget.run(&input)
        }
    }
}
