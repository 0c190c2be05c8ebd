import PeerSync

/// The records that fit one text, with what tells them apart.
public struct RecordChoice: Sendable, Equatable {
    /// A text for a record of some kind.
    public struct Question: Sendable, Hashable {
        /// The kind of record that was meant.
        public let kind: RecordKind
        /// The text, without blanks around it.
        public let text: String
    }

    /// One of the records.
    public struct Candidate: Sendable, Equatable {
        /// The record.
        public let recordName: RecordName
        /// The name of a person or game, or the game and the time of a match.
        public let title: String
        /// Further data for people, as in “1995, 12 matches”; may be empty.
        public let detail: String
        /// The end of the UUID, which names the record in commands; see ``ShortIDs``.
        public let id: String

        /// As in “Catan (1995, 12 matches, id 4f9c1a)”.
        public var text: String {
            let parts = [detail, "id \(id)"].filter { !$0.isEmpty }
            return
                "\(Display.printable(title.isEmpty ? recordName.description : title)) (\(parts.joined(separator: ", ")))"
        }
    }

    /// What was asked for.
    public let question: Question
    /// The records that fit; the first of them if there are very many.
    public let candidates: [Candidate]
    /// How many records fit.
    public let count: Int
}
