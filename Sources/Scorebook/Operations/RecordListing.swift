/// A record in a list, with further data about it.
public protocol RecordListing: Encodable, Sendable {
    /// The name of the record's zone on this machine.
    var zone: String { get }
}
