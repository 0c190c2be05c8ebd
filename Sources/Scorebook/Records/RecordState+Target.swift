import PeerSync

extension RecordState {
    /// The record to which a field refers; nil if it is no reference.
    func target(_ field: String) -> RecordName? {
        guard case .reference(let name)? = self.field(field)?.value else { return nil }
        return name
    }
}
