/// The error of an operation that a scorebook refuses.
public struct ScorebookError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A stable name of the kind of error; more may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name itself, as in `notFound`.
        public let description: String

        /// No record fits the request.
        public static let notFound = Code(description: "notFound")
        /// Several records fit the request.
        public static let ambiguous = Code(description: "ambiguous")
        /// The record to restore is not deleted.
        public static let notDeleted = Code(description: "notDeleted")
        /// The requested record is in another zone.
        public static let otherZone = Code(description: "otherZone")
        /// No other machine takes what is written in the zone. ``Habits/keepsRefusedWrites`` writes it all the same.
        public static let readOnly = Code(description: "readOnly")
        /// A value is out of bounds, or has the wrong form.
        public static let invalidValue = Code(description: "invalidValue")
        /// A file cannot be read at all.
        public static let unreadableFile = Code(description: "unreadableFile")
        /// A file to import or to add has the wrong content.
        public static let invalidFile = Code(description: "invalidFile")
        /// The database cannot be opened for writing, or a file cannot be written.
        public static let notWritable = Code(description: "notWritable")
        /// The scorebook was opened without a directory for pictures.
        public static let noAssetDirectory = Code(description: "noAssetDirectory")
    }

    /// What kind of error it is.
    public let code: Code
    /// One sentence for people.
    public let message: String
    /// The place of the error in an imported file: a path such as `plays[12].playerScores[0].playerRefId`, or
    /// `line 3, column 14`.
    public let place: String?
    /// What helps, for people; nil if the message says all.
    public let hint: String?
    /// The records that fit, with the code `ambiguous`; a caller may ask which one is meant, and try again with
    /// ``Habits/chosen``.
    public let choice: RecordChoice?

    /// Makes an error.
    ///
    /// - Parameter message: a sentence for people, which begins in lower case and has no full stop.
    public init(
        _ code: Code, _ message: String, place: String? = nil, hint: String? = nil,
        choice: RecordChoice? = nil
    ) {
        self.code = code
        self.message = message
        self.place = place
        self.hint = hint
        self.choice = choice
    }

    /// The ``message``.
    public var description: String { message }
}
