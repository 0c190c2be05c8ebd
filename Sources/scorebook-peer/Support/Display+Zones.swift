import Scorebook

extension Display {
    /// Zones by their names, as in “zone “club”” and “zones “club”, “attic””.
    static func zones(_ names: [String]) -> String {
        (names.count == 1 ? "zone " : "zones ")
            + names.map { "“\(printable($0))”" }.joined(separator: ", ")
    }
}
