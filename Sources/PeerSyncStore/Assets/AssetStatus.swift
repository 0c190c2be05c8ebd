/// The number of files that a store has, and of those that it lacks.
public struct AssetStatus: Sendable, Hashable {
    /// A number of files and the sum of their bytes.
    public struct Count: Sendable, Hashable {
        /// The number of files.
        public var files = 0
        /// The sum of their sizes in bytes.
        public var bytes: Int64 = 0

        /// Makes a count of no files.
        public init() {}

        mutating func add(_ size: Int64) {
            files += 1
            bytes += size
        }
    }

    /// The files that live records refer to.
    public internal(set) var referred = Count()
    /// Those of them that are missing although the policy includes them.
    public internal(set) var missing = Count()
    /// Those of them whose bytes are in the database alone, because no file could be written yet. They are not missing.
    public internal(set) var unstored = Count()
    /// Those of them that are missing because the policy excludes them.
    public internal(set) var excluded = Count()
    /// The choice of files that the store fetches.
    public internal(set) var policy = AssetPolicy.all
}
