/// A record in a list, with what else is to be said of it.
public protocol RecordListing: Encodable, Sendable {
    /// What the record's zone is called here.
    var zone: String { get }
}
