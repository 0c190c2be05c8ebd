import PeerSync

extension RecordNameError {
    /// The rule that a text breaks, and how the name of a record in a scorebook looks.
    public var explanation: String {
        if case .tooLong = self { description } else { "\(self); a record name looks like SBGame|~|<uuid>" }
    }
}
