/// The one zone that an operation works in.
public enum ZoneTarget: Sendable, Hashable {
    /// The zone that every store has, whatever its name.
    case `default`
    /// Another zone.
    case one(Zone)
}
